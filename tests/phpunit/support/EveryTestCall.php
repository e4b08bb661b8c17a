<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Support;

use DelayQueue;
use DelayQueue\LeaseLostException;
use DelayQueue\State;
use DelayQueue\Testing;
use LogicException;
use RuntimeException;
use stdClass;
use Throwable;

/** Every call of what the extension makes for tests, without Redis. */
final class EveryTestCall
{
    /** @return array<string, callable(): void> */
    public static function all(DelayQueue $offline): array
    {
        return [
            'DelayQueue\Testing::job' => static function (): void {
                foreach (['ack', 'release', 'fail', 'bury'] as $method) {
                    $job = Testing::job(['a' => [1, 2]], headers: ['h' => 'x'], lastError: 'before');
                    $job->touch(5);
                    $job->keepAlive();
                    $job->update(['b' => 1], ['h' => 'y']);
                    $job->$method();
                }
            },
            'DelayQueue\Testing::job with a listener that holds it' => static function (): void {
                $cycle = new stdClass();
                $cycle->job = Testing::job(1, listener: static fn () => $cycle);
                $cycle->job->fail(new RuntimeException('why'));
                unset($cycle);
                gc_collect_cycles();
            },
            'DelayQueue\Testing::job that is lost' => static function () use ($offline): void {
                $job = Testing::job(1, listener: static fn () => throw new LeaseLostException('gone'));
                self::throws($job->ack(...));
                $offline->ackMany($job, Testing::job(2), Testing::job(3, listener: static fn () => throw new LeaseLostException('gone')));
            },
            'DelayQueue\Testing::job of nonsense' => static fn () => self::throws(static fn () => Testing::job(NAN)),
            'DelayQueue\Testing::outcome' => static fn () => Testing::outcome(Testing::job(1)),
            'DelayQueue\Testing::calls' => static function (): void {
                $job = Testing::job(1);
                $job->release(1, 2);
                array_map(get_object_vars(...), Testing::calls($job));
            },
            'DelayQueue\Testing::jobInfo' => static fn () => Testing::jobInfo(['state' => State::Buried], Testing::jobInfo(['lastError' => 'why'])),
            'DelayQueue\Testing::jobInfo of nonsense' => static fn () => self::throws(static fn () => Testing::jobInfo(['state' => 1])),
            'DelayQueue\JobInfo::place' => static fn () => Testing::jobInfo()->place(),
            'DelayQueue\Testing::forgetMemory' => static function (): void {
                (new DelayQueue('leaks', 'memory://leaks'))->push(1);
                Testing::forgetMemory('leaks');
            },
            'DelayQueue\Testing::pushOnce' => static fn () => Testing::pushOnce(1, known: 2),
            'DelayQueue\Testing::stats' => static fn () => Testing::stats(['ready' => 1])->toPrometheus(),
        ];
    }

    private static function throws(callable $call): void
    {
        try {
            $call();
        } catch (Throwable) {
            return;
        }
        throw new LogicException('nothing was thrown');
    }
}
