<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Worker;

use Closure;
use Psr\Cache\CacheItemPoolInterface;
use Symfony\Component\Messenger\EventListener\StopWorkerOnRestartSignalListener;
use Throwable;

/**
 * The order of messenger:stop-workers, which stands in the cache, to workers that began before it.
 *
 * @internal
 */
final class RestartSignal
{
    /** Seconds between two looks during a wait. */
    private const EVERY = 1;

    private readonly float $began;

    public function __construct(private readonly ?CacheItemPoolInterface $pool)
    {
        $this->began = microtime(true);
    }

    public function isRequested(): bool
    {
        $item = $this->pool?->getItem(StopWorkerOnRestartSignalListener::RESTART_REQUESTED_TIMESTAMP_KEY);

        return $this->began < (float) $item?->get();
    }

    /** Whether during() can end a wait: it needs the cache, and alarms of pcntl. */
    public function endsWaits(): bool
    {
        return $this->pool !== null && function_exists('pcntl_alarm');
    }

    /**
     * Runs a wait, and looks once a second meanwhile. An alarm of somebody else, such as that of --keepalive, comes at
     * its time all the same.
     *
     * @param Closure(): void $wait
     * @param Closure(): void $stop ends it
     */
    public function during(Closure $wait, Closure $stop): void
    {
        if (!$this->endsWaits()) {
            $wait();

            return;
        }
        $before = pcntl_signal_get_handler(SIGALRM);
        $othersAt = self::at(pcntl_alarm(0));
        pcntl_signal(SIGALRM, function (int $signal, mixed $info = null) use ($before, $stop, &$othersAt): void {
            if (microtime(true) >= $othersAt) {
                if (is_callable($before)) {
                    $before($signal, $info);
                }
                $othersAt = self::at(pcntl_alarm(0));
            }
            if ($this->isKnown()) {
                $stop();
            }
            pcntl_alarm(self::EVERY);
        });
        pcntl_alarm(self::EVERY);
        try {
            $wait();
        } finally {
            pcntl_alarm(0);
            pcntl_signal_dispatch(); // one that has just come
            pcntl_alarm($othersAt === INF ? 0 : max(1, (int) ceil($othersAt - microtime(true))));
            pcntl_signal(SIGALRM, $before);
        }
    }

    /** A cache that fails says so to Messenger's own listener, behind the wait. */
    private function isKnown(): bool
    {
        try {
            return $this->isRequested();
        } catch (Throwable) {
            return false;
        }
    }

    /** @param int $seconds until an alarm; 0: there is none */
    private static function at(int $seconds): float
    {
        return $seconds === 0 ? INF : microtime(true) + $seconds;
    }
}
