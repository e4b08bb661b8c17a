<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Middleware;

use DelayQueue\Testing\InteractsWithMemoryQueue;

final class MemoryMiddlewareTest extends MiddlewareCase
{
    use InteractsWithMemoryQueue;
}
