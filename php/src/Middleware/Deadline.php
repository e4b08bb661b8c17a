<?php

declare(strict_types=1);

namespace DelayQueue\Middleware;

use DateInterval;
use DelayQueue\Internal\Monotonic;
use DelayQueue\JobInterface;
use DelayQueue\TimeoutException;
use ValueError;
use WeakMap;

/**
 * Middleware: each run of a handler has so much time from its start, and the handler can ask how much is left, to pass it on to what it calls.
 *
 *     new Pipeline($handler, new Deadline('30s'))
 *
 *     $client->request('POST', $url, ['timeout' => min(10, Deadline::left($job))]);
 *
 * It ends no handler that does not ask: that is the timeout of push() and consume(), which ends it anywhere. Of two around a handler the sooner one counts.
 */
final class Deadline
{
    /** @var WeakMap<JobInterface, float> when the run of a job is to end, by a clock of this process */
    private static WeakMap $ends;

    /** @var list<float> of the runs that are under way: middleware may have given the handler another object for its job */
    private static array $running = [];

    private readonly float $time;

    /** @throws ValueError for a time that is none, or 0 */
    public function __construct(int|float|string|DateInterval $time)
    {
        $this->time = Arguments::duration($time, self::class, '#1 ($time)');
    }

    public function __invoke(JobInterface $job, callable $next): mixed
    {
        self::$ends ??= new WeakMap();
        $outer = self::$ends[$job] ?? INF;
        self::$ends[$job] = min($outer, Monotonic::now() + $this->time);
        self::$running[] = self::$ends[$job];
        try {
            return $next($job);
        } finally {
            array_pop(self::$running);
            self::$ends[$job] = $outer;
        }
    }

    /**
     * How many seconds the run of this job has left: never 0, which to many a client means "no limit". INF without a Deadline.
     *
     * @throws TimeoutException when none are left: let it pass, and the attempt has failed
     */
    public static function left(JobInterface $job): float
    {
        self::$ends ??= new WeakMap();
        $left = (self::$ends[$job] ?? (end(self::$running) ?: INF)) - Monotonic::now();

        return $left > 0 ? $left : throw new TimeoutException('the deadline of this run has passed');
    }
}
