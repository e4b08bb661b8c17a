<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

/** A peer's nature and abilities. */
final class Traits
{
    /**
     * @param string $is one line for the legend
     * @param 'redis'|'beanstalkd' $server the kind it needs
     * @param list<string> $packages Debian packages it needs
     * @param bool $batches it has a pushMany()
     * @param bool $persists its connection can outlive a web request
     * @param bool $isFloor it moves no jobs
     */
    public function __construct(
        public readonly string $is,
        public readonly string $server = 'redis',
        public readonly array $packages = [],
        public readonly bool $batches = false,
        public readonly bool $persists = false,
        public readonly bool $isFloor = false,
    ) {
    }
}
