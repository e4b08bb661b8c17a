<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

/** The cases by name, in the order in which they run. */
final class Cases
{
    /** @var array<string, class-string<Benchmark>> those that measure figures: all of them are one run */
    private const WITH_FIGURES = [
        'push' => Cases\Push::class,
        'push-many' => Cases\PushMany::class,
        'reserve-ack' => Cases\ReserveAck::class,
        'consume' => Cases\Consume::class,
        'workers' => Cases\Workers::class,
        'mixed' => Cases\MixedJobs::class,
        'network' => Cases\Network::class,
        'lateness' => Cases\Lateness::class,
        'idle' => Cases\Idle::class,
        'memory' => Cases\Memory::class,
    ];

    /** @var array<string, class-string<Benchmark>> those that run when they are named */
    private const OTHERS = [
        'depth' => Cases\Depth::class,
        'far-away' => Cases\FarAway::class,
        'partitions' => Cases\Partitions::class,
        'stall' => Cases\Stall::class,
        'fpm' => Cases\Fpm::class,
        'instructions' => Cases\Instructions::class,
        'groups' => Cases\Groups::class,
        'tasks' => Cases\TaskCounters::class,
        'schedules' => Cases\Schedules::class,
        'outbox' => Cases\Outbox::class,
        'memory-engine' => Cases\MemoryEngine::class,
    ];

    /** @return list<string> */
    public static function names(): array
    {
        return array_keys(self::WITH_FIGURES + self::OTHERS);
    }

    /** @return list<string> */
    public static function withFigures(): array
    {
        return array_keys(self::WITH_FIGURES);
    }

    public static function get(string $name): Benchmark
    {
        return new ((self::WITH_FIGURES + self::OTHERS)[$name])();
    }
}
