<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony\App;

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
            'wait' => $this->wait($work->name),
            'sleep' => $this->sleep((float) $what),
        };
        $this->journal->write('end', $work->name);
    }

    private function fail(Work $work, string $times): void
    {
        $begun = array_filter($this->journal->read(), static fn (array $line): bool => $line[0] === 'begin' && $line[1] === $work->name);
        if ($times === '' || count($begun) <= (int) $times) {
            throw new RuntimeException("$work->name failed");
        }
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
