<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel\Support;

use Illuminate\Bus\Batch;
use Throwable;

/** A call-back of a batch or a chain that writes down what it was told. */
final class Told
{
    public function __construct(private readonly string $name)
    {
    }

    public function __invoke(Batch|Throwable $first, ?Throwable $error = null): void
    {
        $error ??= $first instanceof Throwable ? $first : null;
        $counts = $first instanceof Batch ? "$first->totalJobs jobs, $first->pendingJobs pending, $first->failedJobs failed" : '';
        Journal::write(implode(' ', array_filter(['told', $this->name, $counts, $error?->getMessage()])));
    }
}
