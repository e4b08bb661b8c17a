<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

/** Makes signals that end a run exceptions, so that what it started and made is cleared away. */
final class Signals
{
    public static function listen(): void
    {
        pcntl_async_signals(true);
        foreach ([SIGINT, SIGTERM, SIGHUP] as $signal) {
            pcntl_signal($signal, static fn (int $signal) => throw new Interrupted($signal));
        }
    }

    /**
     * Makes something that must not be left half made: a signal waits until it is there.
     *
     * @template T of object
     *
     * @param callable(): T $make
     *
     * @return T
     */
    public static function hold(callable $make): object
    {
        pcntl_async_signals(false);
        try {
            $made = $make();
        } finally {
            pcntl_async_signals(true);
        }
        pcntl_signal_dispatch();

        return $made;
    }
}
