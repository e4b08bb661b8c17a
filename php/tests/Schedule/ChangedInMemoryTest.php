<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Schedule;

use DelayQueue\Testing\InteractsWithMemoryQueue;
use PHPUnit\Framework\TestCase;

final class ChangedInMemoryTest extends TestCase
{
    use InteractsWithMemoryQueue;
    use ChangedCase;
}
