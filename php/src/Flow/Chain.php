<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

final class Chain
{
    /** Of a job: see ChainStep. */
    public const HEADER = 'dq-chain';
}
