<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Worker;

/**
 * While it waits, a worker hears of SIGTERM and its like at once: their handlers run, and end the wait.
 *
 * @internal
 */
final class Signals
{
    /** @param array<int, callable> $handlers those that were there before */
    private function __construct(private readonly array $handlers, private readonly bool $async)
    {
    }

    public static function endWait(SharedWait $wait): ?self
    {
        if (!function_exists('pcntl_signal')) {
            return null;
        }
        $handlers = [];
        foreach ([SIGTERM, SIGINT, SIGQUIT] as $signal) {
            $before = pcntl_signal_get_handler($signal);
            if (is_callable($before)) {
                $handlers[$signal] = $before;
                pcntl_signal($signal, static function (int $signal, mixed $info = null) use ($before, $wait): void {
                    $before($signal, $info);
                    $wait->stop();
                });
            }
        }
        $async = pcntl_async_signals();
        pcntl_async_signals(true);

        return new self($handlers, $async);
    }

    public function restore(): void
    {
        foreach ($this->handlers as $signal => $handler) {
            pcntl_signal($signal, $handler);
        }
        pcntl_async_signals($this->async);
    }
}
