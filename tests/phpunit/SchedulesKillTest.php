<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DelayQueue;
use DelayQueue\Internal\Moment;
use DelayQueue\Schedule\CatchUp;
use DelayQueue\Schedule\Definition;
use DelayQueue\Schedule\Every;
use DelayQueue\Schedule\Occurrence;
use DelayQueue\Schedule\State;
use DelayQueue\Tests\Support\Php;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\ProcessTestCase;
use DelayQueue\Tests\Support\Wait;

/** Runners that are killed at any point between the push of a job and the next moment of its schedule. */
final class SchedulesKillTest extends ProcessTestCase
{
    private const SCHEDULES = 400;

    private const MOMENTS = 5;

    /** @var array<Process> */
    private array $processes = [];

    protected function tearDown(): void
    {
        array_map(static fn (Process $process) => $process->kill(), $this->processes);
        parent::tearDown();
    }

    public function testEachOccurrenceIsPushedOnce(): void
    {
        $log = $this->redis->folder->path . '/done';
        $start = fn (string ...$arguments): Process => Php::program('schedules.php', $this->redis->dsn(), ...$arguments);
        $this->processes = ['first' => $start('run'), 'second' => $start('run'), $start('work', $log), $start('work', $log)];
        array_map(static fn (Process $process) => $process->hear('ready'), $this->processes);
        [$expected, $from] = $this->schedules();

        // Many schedules are due at the same moment: a runner that is killed soon after has some in its hands.
        $kills = 0;
        $queue = new DelayQueue('schedules', $this->redis->dsn(), ['readTimeout' => 10]);
        while ($queue->count() > 0) {
            $inBurst = fmod($queue->now() - $from, 1.0);
            if ($inBurst < 0.4) {
                usleep(random_int(1, 60_000));
                $name = random_int(0, 1) === 0 ? 'first' : 'second';
                $this->processes[$name]->kill();
                $this->processes[$name] = $start('run');
                $this->processes[$name]->hear('ready');
                $kills++;
            } else {
                usleep(5_000);
            }
            $this->assertLessThan($from + 120, $queue->now(), "{$queue->count()} schedules are still there");
        }
        Wait::until(static fn (): bool => $queue->sibling('target')->count() === 0, 60, 'the workers have done all jobs');

        $done = file($log, FILE_IGNORE_NEW_LINES) ?: [];
        sort($done);
        $this->assertSame([], array_diff($expected, $done), "after $kills kills none is missing");
        $this->assertSame($expected, $done, "after $kills kills each was done once");
        // A busy machine starts few runners that it could kill.
        $this->assertGreaterThan(2, $kills);
        $this->assertSame(0, $queue->sibling('target')->stats()->failed);
    }

    /**
     * As Schedules::set() makes them, but for the length of the lease, which is short: a test does not wait for half a minute after each kill.
     *
     * @return array{list<string>, float} the ids of all occurrences, and when the intervals begin
     */
    private function schedules(): array
    {
        $queue = new DelayQueue('schedules', $this->redis->dsn(), ['readTimeout' => 10]);
        $from = floor($queue->now() * 1000) / 1000;
        $until = Moment::of($from + self::MOMENTS);
        $ids = $jobs = [];
        for ($n = 0; $n < self::SCHEDULES; $n++) {
            $definition = new Definition(Every::interval('1s'), 'target', $n, catchUp: CatchUp::All, until: $until);
            $first = Moment::of($from + 1);
            $jobs[] = ['payload' => $definition->toArray(), 'id' => "s$n", 'delay' => $first, 'ttr' => 1, 'maxAttempts' => 0, 'headers' => (new State($from))->headers()];
            for ($moment = 1; $moment <= self::MOMENTS; $moment++) {
                $ids[] = Occurrence::id("s$n", Moment::of($from + $moment));
            }
        }
        $queue->pushMany($jobs);
        sort($ids);

        return [$ids, $from];
    }
}
