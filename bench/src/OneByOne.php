<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

/** The worker of peers that hand out one job at a time: the loop that their users write. */
trait OneByOne
{
    public function consume(int $count, callable $onJob, int $prefetch, float $seconds): void
    {
        for ($done = 0; $done < $count; $done++) {
            $payload = $this->take();
            if ($payload === null || !$onJob($payload)) {
                return;
            }
        }
    }
}
