<?php

declare(strict_types=1);

namespace DelayQueue\Console;

/** The workers that are meant: all, those of a host, one process, those of a queue. */
final class WorkerChoice
{
    private function __construct(public readonly ?string $host, public readonly ?int $pid, public readonly ?string $queue)
    {
    }

    /**
     * @param string|null $name HOST or HOST:PID
     *
     * @throws UsageException
     */
    public static function of(?string $name, Target $target): self
    {
        $queues = $target->named();
        if (count($queues) > 1) {
            throw new UsageException('this command works on the workers of one queue, or of all: give --queue once');
        }
        $queue = $queues[0] ?? null;
        if ($name === null) {
            return new self(null, null, $queue);
        }
        if (preg_match('/^([^:]+)(?::([1-9]\d{0,9}))?$/D', $name, $parts) !== 1) {
            throw new UsageException("'$name' must be HOST or HOST:PID, as delayqueue workers prints it");
        }

        return new self($parts[1], isset($parts[2]) ? (int) $parts[2] : null, $queue);
    }

    /** @param array<string, mixed> $worker of DelayQueue::workers() */
    public function takes(array $worker): bool
    {
        return ($this->host ?? $worker['host']) === $worker['host']
            && ($this->pid ?? $worker['pid']) === $worker['pid']
            && ($this->queue === null || in_array($this->queue, $worker['queues'], true));
    }
}
