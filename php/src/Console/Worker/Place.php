<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

use DelayQueue;

/** Where a worker works: its queues, and their Redis without a password. */
final class Place
{
    /**
     * @param list<string> $queues
     *
     * @return array{queues: list<string>, redis: string, prefix: string}
     */
    public static function of(array $queues, DelayQueue $queue): array
    {
        $settings = $queue->settings();

        return ['queues' => $queues, 'redis' => $settings->dsn, 'prefix' => $settings->prefix];
    }

    /** @param array{queues: list<string>, redis: string, prefix: string} $place */
    public static function text(array $place): string
    {
        $names = $place['queues'];

        return (count($names) === 1 ? 'queue ' : 'queues ') . implode(', ', $names) . " at {$place['redis']}, prefix {$place['prefix']}";
    }
}
