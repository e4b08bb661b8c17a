<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony\App;

use DelayQueue\RateLimited;
use RuntimeException;

/** Does what a message says, and writes it down. */
final class Handler
{
    public function __construct(private readonly Journal $journal)
    {
    }

    public function __invoke(Work $work): void
    {
        $this->journal->write('begin', $work->name);
        [$do, $what] = explode(' ', $work->do, 2) + [1 => ''];
        match ($do) {
            'nothing' => null,
            'fail' => $this->fail($work, $what),
            'limit' => $this->begun($work) > (int) $what ?: throw new RateLimited('1ms'),
            'last' => $this->lastChance($work),
            'close' => throw new RateLimited('1h'),
            'kill' => posix_kill(getmypid(), SIGKILL),
            'wait' => $this->wait($work->name),
            'sleep' => $this->sleep((float) $what),
        };
        $this->journal->write('end', $work->name);
    }

    private function fail(Work $work, string $times): void
    {
        if ($times === '' || $this->begun($work) <= (int) $times) {
            throw new RuntimeException("$work->name failed");
        }
    }

    /** Fails but in its last retry, which meets a limit. */
    private function lastChance(Work $work): void
    {
        $this->fail($work, '3');
        $this->begun($work) > 4 ?: throw new RateLimited('1ms');
    }

    private function begun(Work $work): int
    {
        return count(array_filter($this->journal->read(), static fn (array $line): bool => $line[0] === 'begin' && $line[1] === $work->name));
    }

    private function wait(string $name): void
    {
        while (!$this->journal->mayGo($name)) {
            usleep(2_000);
        }
    }

    private function sleep(float $seconds): void
    {
        for ($end = microtime(true) + $seconds; ($left = $end - microtime(true)) > 0;) {
            usleep((int) min(1e6, 1e6 * $left)); // Signals interrupt it.
        }
    }
}
