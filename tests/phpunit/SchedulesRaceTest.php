<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DelayQueue;
use DelayQueue\Internal\Moment;
use DelayQueue\Schedule\CatchUp;
use DelayQueue\Schedule\Every;
use DelayQueue\Schedule\Occurrence;
use DelayQueue\Schedule\Schedules;
use DelayQueue\Schedule\State;
use DelayQueue\Tests\Support\Php;
use DelayQueue\Tests\Support\ProcessTestCase;
use DelayQueue\Tests\Support\Wait;

/** Processes that change one schedule at the same time, beside a runner. */
final class SchedulesRaceTest extends ProcessTestCase
{
    /** @var array<DelayQueue\Tests\Support\Process> */
    private array $processes = [];

    protected function tearDown(): void
    {
        array_map(static fn ($process) => $process->kill(), $this->processes);
        parent::tearDown();
    }

    public function testNoChangeAndNoOccurrenceIsLost(): void
    {
        $this->race(200, 60);
    }

    /** @group verify */
    #[\PHPUnit\Framework\Attributes\Group('verify')]
    public function testNoChangeAndNoOccurrenceIsLostInTwoThousandRounds(): void
    {
        $this->race(2000, 600);
    }

    /** One process sets a schedule, and another one pauses and resumes it, so many times. */
    private function race(int $times, float $patience): void
    {
        $queue = new DelayQueue('schedules', $this->redis->dsn(), ['readTimeout' => 10]);
        $schedules = new Schedules($queue);
        $schedules->set('a', Every::interval('1s'), queue: 'target', job: ['payload' => 0], catchUp: CatchUp::All);
        $from = (float) State::of($queue->peek('a')->headers ?? [])->from;
        foreach (['run', 'set', 'pause'] as $what) {
            $this->processes[$what] = Php::program('schedules.php', $this->redis->dsn(), $what, (string) $times);
        }
        $made = [];
        foreach (['set', 'pause'] as $what) {
            $made[$what] = $this->processes[$what]->rest($patience);
            $this->assertStringNotContainsString('lost', $made[$what]);
            $this->assertStringEndsWith("done\n", $made[$what], $this->processes[$what]->errors());
        }
        preg_match_all('/^paused (\S+) (\S+)$/m', $made['pause'], $pauses, PREG_SET_ORDER);
        $this->assertCount($times, $pauses);

        $end = $queue->now();
        $expected = [];
        for ($moment = $from + 1; $moment < $end; $moment++) {
            $isWithin = static fn (array $pause): bool => $moment > $pause[1] && $moment < $pause[2];
            if (array_filter($pauses, $isWithin) === []) {
                $expected[] = Occurrence::id('a', Moment::of($moment));
            }
        }
        $target = $queue->sibling('target');
        foreach ($expected as $id) {
            Wait::until(static fn (): bool => $target->peek($id) !== null, 20, "the runner has pushed $id");
        }
        $this->assertFalse($schedules->get('a')?->paused);
        $this->assertSame($from, State::of($queue->peek('a')->headers ?? [])->from, 'its clock goes on');
    }
}
