<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

use DelayQueue\Bench\Cases\Throughput;

/** The cases by name, in the order in which they run. */
final class Cases
{
    /** Not in a quick run unless they are named: they take minutes. */
    private const SLOW = ['instructions', 'core'];

    /** @return list<string> */
    public static function names(): array
    {
        return array_keys(self::all());
    }

    /** @return list<string> */
    public static function quick(): array
    {
        return array_values(array_diff(self::names(), self::SLOW));
    }

    /** @return list<Benchmark> what stands behind one name */
    public static function get(string $name): array
    {
        return self::all()[$name]();
    }

    /** Whether a worker of this peer is measured with this prefetch. */
    public static function takesPart(Traits $peer, int $prefetch): bool
    {
        return $peer->takesIds && ($prefetch === 1 || $peer->prefetches || $peer->server === 'beanstalkd');
    }

    /** @return array<string, callable(): list<Benchmark>> */
    private static function all(): array
    {
        $all = static fn () => true;

        return [
            'push' => static fn () => [new Throughput('push', 'Push, one at a time, TCP', 'Push', $all, variants: true)],
            'push-unix' => static fn () => [new Throughput(
                'push-unix', 'Push, one at a time, Unix socket', 'Push', static fn (Traits $peer) => $peer->server === 'redis', unix: true,
            )],
            'push-many' => static fn () => array_map(self::pushMany(...), [100, 500]),
            'take' => static fn () => [new Throughput(
                'take', 'Reserve and acknowledge, one call each', 'Take', $all, fills: true,
                note: 'two-key deletes what it hands out and acknowledges nothing.',
            )],
            'consume' => static fn () => array_map(self::consume(...), [1, 16, 64]),
            'two-workers' => static fn () => [new Cases\TwoWorkers([1, 64])],
            'lateness' => static fn () => [new Cases\Lateness()],
            'wake' => static fn () => [new Cases\Wake()],
            'idle' => static fn () => [new Cases\Idle()],
            'depth' => static fn () => [new Cases\Depth()],
            'memory' => static fn () => [new Cases\Memory()],
            'stall' => static fn () => [new Cases\Stall()],
            'fpm' => static fn () => [new Cases\Fpm()],
            'load' => static fn () => [new Cases\Load()],
            'instructions' => static fn () => [new Cases\Instructions()],
            'core' => static fn () => [new Cases\Core()],
        ];
    }

    private static function pushMany(int $batch): Benchmark
    {
        return new Throughput(
            "push-many-$batch", "pushMany() of $batch", 'PushMany', static fn (Traits $peer) => $peer->batches,
            note: 'two-key and illuminate in a phpredis pipeline. Times are per job.',
            without: ['client_us', 'server_us', 'first_ms'],
            task: ['batch' => $batch], variants: true,
        );
    }

    private static function consume(int $prefetch): Benchmark
    {
        $note = $prefetch === 1 ? 'two-key deletes what it hands out and acknowledges nothing.'
            : 'beanstalkd cannot prefetch, and is here to be compared with.';

        return new Throughput(
            "consume-$prefetch", "A worker on a full queue, prefetch $prefetch", 'Consume',
            static fn (Traits $peer) => self::takesPart($peer, $prefetch),
            note: $note, without: [], fills: true, task: ['prefetch' => $prefetch], variants: true,
        );
    }
}
