<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Peers;

use DelayQueue\Bench\Traits;

/** This extension with the option that costs time and saves memory. */
final class CompressPeer extends DelayQueuePeer
{
    protected const OPTIONS = ['compress' => true];

    public static function traits(): Traits
    {
        return new Traits('this extension, option compress', batches: true, prefetches: true, persists: true, isVariant: true);
    }
}
