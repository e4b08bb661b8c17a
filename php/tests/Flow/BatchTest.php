<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Flow;

use DelayQueue\Testing\InteractsWithDelayQueue;
use PHPUnit\Framework\TestCase;

final class BatchTest extends TestCase
{
    use BatchRules;
    use InteractsWithDelayQueue;
}
