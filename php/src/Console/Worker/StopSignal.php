<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

/** Whether a signal has told this process to end, for a loop that asks between two steps. Without pcntl a signal ends the process at once. */
final class StopSignal
{
    private bool $hasCome = false;

    /**
     * @param list<int> $signals
     * @param list<int> $ignored
     */
    public function __construct(array $signals, array $ignored = [])
    {
        if (!function_exists('pcntl_signal')) {
            return;
        }
        pcntl_async_signals(true);
        foreach ($signals as $signal) {
            pcntl_signal($signal, function (): void {
                $this->hasCome = true;
            });
        }
        foreach ($ignored as $signal) {
            pcntl_signal($signal, SIG_IGN);
        }
    }

    public function hasCome(): bool
    {
        return $this->hasCome;
    }
}
