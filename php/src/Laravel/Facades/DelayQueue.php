<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Facades;

use DelayQueue\Laravel\Manager;
use Illuminate\Support\Facades\Facade;

/**
 * The jobs of the application's delayqueue connection, by id. Where no queue is named, the connection's default one is looked at first,
 * then all others.
 *
 * @method static \DelayQueue\Laravel\Queue connection(?string $name = null)
 * @method static int cancel(string|array $ids, string|\UnitEnum|null $queue = null)
 * @method static bool reschedule(string $id, int|float|string|\DateInterval|\DateTimeInterface $delay, string|\UnitEnum|null $queue = null)
 * @method static bool replace(string $id, object $job, string|\UnitEnum|null $queue = null)
 * @method static \DelayQueue\JobInfo|null find(string $id, string|\UnitEnum|null $queue = null)
 * @method static \DelayQueue\Stats stats(string|\UnitEnum|null $queue = null)
 * @method static \DelayQueue\Laravel\Database\QueueOutbox|null outbox()
 * @method static \DelayQueue native(string|\UnitEnum|null $queue = null)
 *
 * @see \DelayQueue\Laravel\Concerns\FindsJobs
 */
final class DelayQueue extends Facade
{
    protected static function getFacadeAccessor(): string
    {
        return Manager::class;
    }
}
