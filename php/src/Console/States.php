<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue\Internal\Nearest;
use DelayQueue\State;

/** States by their names. */
final class States
{
    /** Words of other queues. */
    private const OTHERS = [
        'failed' => 'buried', 'dead' => 'buried', 'waiting' => 'ready', 'pending' => 'ready', 'queued' => 'ready',
        'scheduled' => 'delayed', 'active' => 'reserved', 'running' => 'reserved',
    ];

    /** @throws UsageException when there is no such state */
    public static function of(string $name): State
    {
        $state = State::tryFrom($name);
        if ($state === null) {
            $near = self::OTHERS[$name] ?? Nearest::of($name, array_column(State::cases(), 'value'))[0] ?? null;
            throw new UsageException("there is no state $name" . ($near === null
                ? ': delayed, ready, reserved or buried; --queue names a queue'
                : "; did you mean $near?"));
        }

        return $state;
    }
}
