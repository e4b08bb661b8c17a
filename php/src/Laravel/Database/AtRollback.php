<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Database;

use Closure;

/** For Laravel before 12.10, which tells nobody of a rollback: it drops the call-backs that were to come after the commit. */
final class AtRollback
{
    private bool $isCommitted = false;

    /** @param Closure(): void $work for when this is dropped, and committed() was not called */
    public function __construct(private readonly Closure $work)
    {
    }

    public function __destruct()
    {
        $this->isCommitted || ($this->work)();
    }

    public function committed(): void
    {
        $this->isCommitted = true;
    }
}
