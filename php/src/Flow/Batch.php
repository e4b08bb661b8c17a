<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

final class Batch
{
    /** Of a job: see BatchStep. */
    public const HEADER = 'dq-batch';
}
