<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Schedule;

use DelayQueue\Testing\InteractsWithDelayQueue;
use PHPUnit\Framework\TestCase;

final class ChangedOnRedisTest extends TestCase
{
    use InteractsWithDelayQueue;
    use ChangedCase;
}
