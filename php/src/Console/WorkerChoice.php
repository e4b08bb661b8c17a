<?php

declare(strict_types=1);

namespace DelayQueue\Console;

/** The workers that are meant: all, those of a host, one process, those of a queue. */
final class WorkerChoice
{
    /**
     * @param string|null $name HOST or HOST:PID
     *
     * @return array{host: string|null, pid: int|null, queue: string|null} as DelayQueue::workers() and tellWorkers() take them
     *
     * @throws UsageException
     */
    public static function of(?string $name, Target $target): array
    {
        $queues = $target->named();
        if (count($queues) > 1) {
            throw new UsageException('this command works on the workers of one queue, or of all: give --queue once');
        }
        $all = ['host' => null, 'pid' => null, 'queue' => $queues[0] ?? null];
        if ($name === null) {
            return $all;
        }
        if (preg_match('/^([^:]+)(?::([1-9]\d{0,9}))?$/D', $name, $parts) !== 1) {
            throw new UsageException("'$name' must be HOST or HOST:PID, as delayqueue workers prints it");
        }

        return ['host' => $parts[1], 'pid' => isset($parts[2]) ? (int) $parts[2] : null] + $all;
    }

    /** @param array{host: string|null, pid: int|null, queue: string|null} $choice of workers that are not there */
    public static function none(array $choice): string
    {
        ['host' => $host, 'pid' => $pid, 'queue' => $queue] = $choice;
        $where = match (true) {
            $host === null => '',
            $pid === null => " on $host",
            default => " at $host:$pid",
        };

        return "no worker runs$where" . ($queue === null ? '' : " for queue $queue");
    }
}
