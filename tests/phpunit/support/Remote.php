<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Support;

use PHPUnit\Framework\Assert;

/** A DelayQueue in a process of its own, operated from here: one call at a time, or left alone in the middle of one. */
final class Remote
{
    public readonly Process $process;

    /** @param array<string, mixed> $options of DelayQueue */
    public function __construct(string $dsn, string $queue, array $options = [])
    {
        $this->process = Php::program('remote.php', $dsn, $queue, json_encode((object) $options));
        $this->process->hear('ready');
    }

    /** Starts a method of the queue, or of the job that it reserved last, and does not wait for it. */
    public function begin(string $method, mixed ...$arguments): void
    {
        $this->process->say(json_encode([$method, $arguments]));
    }

    /** @return array<string, mixed> result, or thrown, message and ambiguous; seconds is how long the call took */
    public function outcome(float $seconds = 15.0): array
    {
        return json_decode($this->process->line($seconds), true, flags: JSON_THROW_ON_ERROR);
    }

    /** @return array<string, mixed> see outcome() */
    public function attempt(string $method, mixed ...$arguments): array
    {
        $this->begin($method, ...$arguments);

        return $this->outcome();
    }

    /** The result of a call that works. */
    public function call(string $method, mixed ...$arguments): mixed
    {
        $outcome = $this->attempt($method, ...$arguments);
        Assert::assertArrayNotHasKey('thrown', $outcome, "$method(): " . ($outcome['message'] ?? ''));

        return $outcome['result'];
    }

    public function kill(): void
    {
        $this->process->kill();
    }
}
