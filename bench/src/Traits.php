<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

/** What a peer is and can do. */
final class Traits
{
    /**
     * @param string $is one line for the legend
     * @param 'redis'|'beanstalkd' $server what it needs
     * @param list<string> $packages Debian packages it needs
     * @param list<int|null> $polls how often it looks while idle, in ms, its own default first; null: it is woken
     * @param bool $isVariant another peer with an option: only where that option shows
     * @param bool $takesIds false: makes up the ids itself, and only takes part in pushing
     * @param int $resolutionMs of its delays
     */
    public function __construct(
        public readonly string $is,
        public readonly string $server = 'redis',
        public readonly array $packages = [],
        public readonly bool $batches = false,
        public readonly bool $prefetches = false,
        public readonly bool $persists = false,
        public readonly bool $isFloor = false,
        public readonly bool $isVariant = false,
        public readonly bool $takesIds = true,
        public readonly array $polls = [null],
        public readonly int $resolutionMs = 1,
    ) {
    }
}
