<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

/** Times one step after another, and the CPU that client and server spend meanwhile. */
final class Meter
{
    /** @var list<int> nanoseconds of each step */
    private array $steps = [];

    private readonly int $started;

    private int $last;

    private float $clientUs;

    private float $serverUs;

    public function __construct(private readonly int $serverPid)
    {
        $this->serverUs = Cpu::ofProcessUs($serverPid);
        $this->clientUs = Cpu::ownUs();
        $this->started = $this->last = hrtime(true);
    }

    /** Ends a step. */
    public function step(): void
    {
        $now = hrtime(true);
        $this->steps[] = $now - $this->last;
        $this->last = $now;
    }

    /** The next step begins now. */
    public function skip(): void
    {
        $this->last = hrtime(true);
    }

    /** Seconds from the beginning to the last step, whatever else was done in between. */
    public function elapsed(): float
    {
        return ($this->last - $this->started) / 1e9;
    }

    /**
     * @param int $each jobs in a step
     * @param bool $cpu false when other work than the steps went on meanwhile
     *
     * @return array<string, float|int>
     */
    public function result(int $each = 1, bool $cpu = true): array
    {
        $clientUs = Cpu::ownUs() - $this->clientUs;
        $serverUs = Cpu::ofProcessUs($this->serverPid) - $this->serverUs;
        $jobs = count($this->steps) * $each;
        if ($jobs === 0) {
            return ['jobs' => 0];
        }
        $result = [
            'jobs' => $jobs,
            'jobs_per_s' => $jobs / array_sum($this->steps) * 1e9,
            'p50_us' => Numbers::percentile($this->steps, 50) / 1000 / $each,
            'p99_us' => Numbers::percentile($this->steps, 99) / 1000 / $each,
        ];

        return $result + ($cpu ? ['client_us' => $clientUs / $jobs, 'server_us' => $serverUs / $jobs] : []);
    }
}
