<?php

declare(strict_types=1);

namespace DelayQueue\Tests;

use DelayQueue\Testing\InteractsWithDelayQueue;

/** Runs the tests of a class on a private Redis, or with DELAYQUEUE_DSN=memory:// in the environment on the store in the process. */
trait OnAnyStore
{
    use InteractsWithDelayQueue {
        delayQueueDsn as private dsnOfRedis;
    }

    protected function delayQueueDsn(): string
    {
        return getenv('DELAYQUEUE_DSN') === 'memory://' ? 'memory://' : $this->dsnOfRedis();
    }
}
