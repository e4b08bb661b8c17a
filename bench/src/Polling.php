<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

/** The worker of peers that hand out one job at a time, and the idle wait of those that are not woken. */
trait Polling
{
    public function consume(int $count, callable $onJob, int $prefetch, float $seconds): void
    {
        $end = microtime(true) + $seconds;
        for ($done = 0; $done < $count; $done++) {
            $payload = $this->take(max(0.0, $end - microtime(true)));
            if ($payload === null || !$onJob($payload)) {
                return;
            }
        }
    }

    /**
     * @template T
     *
     * @param callable(): (T|null) $look
     *
     * @return T|null
     */
    private function poll(callable $look, float $seconds, int $everyMs): mixed
    {
        $found = $look();
        for ($end = microtime(true) + $seconds; $found === null && ($left = $end - microtime(true)) > 0; $found = $look()) {
            usleep((int) min($everyMs * 1000, $left * 1e6 + 1));
        }

        return $found;
    }
}
