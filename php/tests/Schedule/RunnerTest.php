<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Schedule;

use DateTimeImmutable;
use DelayQueue\QueueInterface;
use DelayQueue\Schedule\CatchUp;
use DelayQueue\Schedule\Cron;
use DelayQueue\Schedule\Every;
use DelayQueue\Schedule\Overlap;
use DelayQueue\Schedule\Runner;
use DelayQueue\State;
use DelayQueue\Tests\Flow\HookedQueue;
use PHPUnit\Framework\TestCase;
use RuntimeException;

/** Rules of Runner. */
final class RunnerTest extends TestCase
{
    use QueueOfSchedules;

    private const EVERY_TEN = '*/10 * * * *';

    public function testOfMissedMomentsTheLatestOneRuns(): void
    {
        $this->schedules->set('a', Cron::parse(self::EVERY_TEN), queue: 'target');
        $this->clock('11:05:00');
        $this->runSchedules();
        $this->assertSame([['11:00:00Z'], '01-08 11:10:00'], [$this->pushed(), $this->nextOf('a')]);
    }

    public function testAMissedMomentThatIsTooOldDoesNotRun(): void
    {
        $this->schedules->set('a', Cron::parse('0 9 * * *'), queue: 'target', catchUp: '30m');
        $this->clock('09:31:00');
        $this->runSchedules();
        $this->assertSame([[], '01-09 09:00:00'], [$this->pushed(), $this->nextOf('a')]);
    }

    public function testWithoutCatchUpOnlyAMomentOfTheLastMinuteRuns(): void
    {
        $this->schedules->set('a', Cron::parse(self::EVERY_TEN), queue: 'target', catchUp: 0);
        $this->clock('10:05:00');
        $this->runSchedules();
        $this->assertSame([[], '01-08 10:10:00'], [$this->pushed(), $this->nextOf('a')]);
        $this->clock('10:10:40');
        $this->runSchedules();
        $this->assertSame(['10:10:00Z'], $this->pushed());
    }

    public function testAllOfTheMissedMomentsRun(): void
    {
        $this->schedules->set('a', Cron::parse(self::EVERY_TEN), queue: 'target', catchUp: CatchUp::All);
        $this->clock('09:15:00');
        $this->runSchedules();
        $this->assertSame(['08:40:00Z', '08:50:00Z', '09:00:00Z', '09:10:00Z'], $this->pushed());
        $this->assertSame('01-08 09:20:00', $this->nextOf('a'));
    }

    public function testMissedMomentsNeedTheMemoryOfOneJob(): void
    {
        $this->schedules->set('a', Cron::parse(self::EVERY_TEN), queue: 'target', catchUp: CatchUp::All);
        $pushes = 0;
        $count = static function (bool $isOver, string $method) use (&$pushes): void {
            $pushes += $isOver && $method === 'pushMany' ? 1 : 0;
        };
        $this->clock('09:15:00');
        $this->runSchedules(1, new Runner($this->queue, fn (string $name): QueueInterface => HookedQueue::of($this->delayQueue($name), $count)));
        $this->assertSame([4, 4], [count($this->pushed()), $pushes], 'each is a request of its own');
    }

    public function testAtMostAThousandMissedMomentsRun(): void
    {
        $this->schedules->set('all', Every::interval('10m'), queue: 'target', catchUp: CatchUp::All);
        $this->schedules->set('year', Every::interval('1m'), queue: 'other', catchUp: '365d');
        $this->schedules->set('cron', Cron::parse('* * * * *'), queue: 'another', catchUp: '365d');
        $this->travelTo(new DateTimeImmutable('2030-07-08 08:30:00.5 UTC'));
        $this->runSchedules(3);
        $counts = array_map(fn (string $queue): int => $this->delayQueue($queue)->count(), ['target', 'other', 'another']);
        $this->assertSame([1000, 1, 1], $counts);
        $this->assertStringStartsWith(
            'all@2030-01-08T08:40:00',
            (string) $this->delayQueue('target')->peekReady()?->id,
            'the oldest first',
        );
        $this->assertSame('cron@2030-07-08T08:30:00Z', $this->delayQueue('another')->peekReady()?->id);
    }

    public function testSkipLeavesOutAnOccurrenceWhileTheFormerOneIsThere(): void
    {
        $this->schedules->set('a', Cron::parse(self::EVERY_TEN), queue: 'target', overlap: Overlap::Skip, ttr: '1h');
        $this->clock('08:40:00');
        $this->runSchedules();
        $this->clock('08:50:00');
        $this->runSchedules();
        $former = $this->delayQueue('target')->reserve();
        $this->clock('09:00:00');
        $this->runSchedules();
        $this->assertSame(['08:40:00Z'], $this->pushed(), 'neither while it waits nor while it runs');
        $former?->ack();
        $this->clock('09:10:00');
        $this->runSchedules();
        $this->assertSame(['09:10:00Z'], $this->pushed());
        $this->delayQueue('target')->reserve()?->bury();
        $this->clock('09:20:00');
        $this->runSchedules();
        $this->assertSame(['09:20:00Z'], $this->pushed(), 'one that is buried is over');
    }

    public function testReplaceCancelsTheFormerOccurrence(): void
    {
        $this->schedules->set('a', Cron::parse(self::EVERY_TEN), queue: 'target', overlap: Overlap::Replace);
        foreach (['08:40:00', '08:50:00'] as $moment) {
            $this->clock($moment);
            $this->runSchedules();
            $this->assertSame(["{$moment}Z"], $this->pushed());
        }
        $held = $this->delayQueue('target')->reserve();
        $this->clock('09:00:00');
        $this->runSchedules();
        $this->assertSame(['09:00:00Z'], $this->pushed());
        $this->expectException(\DelayQueue\LeaseLostException::class);
        $held?->ack();
    }

    /** @dataProvider overlaps */
    #[\PHPUnit\Framework\Attributes\DataProvider('overlaps')]
    public function testARepeatPushesNothing(Overlap $overlap): void
    {
        $this->schedules->set('a', Cron::parse(self::EVERY_TEN), queue: 'target', overlap: $overlap, catchUp: CatchUp::All);
        $this->clock('08:40:00');
        $body = (string) $this->queue->peek('a')?->body;
        $this->runSchedules();
        $this->delayQueue('target')->reserve()?->ack();
        // As a runner leaves it that was killed before it gave the schedule back, with and without its note.
        foreach ([$this->queue->peek('a')->headers ?? [], []] as $headers) {
            $this->queue->cancel('a');
            $this->queue->push(json_decode($body), new DateTimeImmutable('2030-01-08 08:40 UTC'), 'a', maxAttempts: 0, headers: $headers);
            $this->runSchedules();
            $this->assertSame([[], '01-08 08:50:00'], [$this->pushed(), $this->nextOf('a')]);
        }
    }

    /** @return list<array{Overlap}> */
    public static function overlaps(): array
    {
        return array_map(static fn (Overlap $overlap): array => [$overlap], Overlap::cases());
    }

    public function testAJitterIsTheSameForEachRepeat(): void
    {
        foreach (['a', 'b'] as $name) {
            $this->schedules->set($name, Cron::parse('0 * * * *'), queue: 'target', jitter: '1h');
        }
        $this->clock('09:00:00');
        $this->runSchedules(2);
        $due = fn (string $name): float => $this->delayQueue('target')->peek("$name@2030-01-08T09:00:00Z")?->dueAt - (float) strtotime('2030-01-08 09:00 UTC');
        $this->assertNotSame($due('a'), $due('b'));
        foreach (['a', 'b'] as $name) {
            $this->assertGreaterThanOrEqual(0.0, $due($name));
            $this->assertLessThan(3600.0, $due($name));
        }
        $first = $due('a');
        $this->queue->cancel('a');
        $this->delayQueue('target')->forgetReceipts('a@2030-01-08T09:00:00Z');
        $this->delayQueue('target')->cancel('a@2030-01-08T09:00:00Z');
        $this->clock('08:59:00');
        $this->schedules->set('a', Cron::parse('0 * * * *'), queue: 'target', jitter: '1h');
        $this->clock('09:00:05');
        $this->runSchedules();
        $this->assertSame($first, $due('a'));
    }

    public function testAScheduleRemovesItselfAtItsEnd(): void
    {
        $this->schedules->set('a', Cron::parse(self::EVERY_TEN), queue: 'target', until: new DateTimeImmutable('2030-01-08 08:50 UTC'), catchUp: CatchUp::All);
        $this->assertCount(2, $this->schedules->get('a')?->next(5) ?? []);
        $this->clock('08:40:00');
        $this->runSchedules();
        $this->assertNotNull($this->schedules->get('a'));
        $this->clock('09:30:00');
        $this->runSchedules();
        $this->assertSame(['08:40:00Z', '08:50:00Z'], $this->pushed());
        $this->assertSame(0, $this->queue->count());
    }

    /** @dataProvider refusals */
    #[\PHPUnit\Framework\Attributes\DataProvider('refusals')]
    public function testATargetThatRefusesLeavesTheScheduleWhereItIs(Overlap $overlap): void
    {
        $this->schedules->set('a', Cron::parse(self::EVERY_TEN), queue: 'target', overlap: $overlap);
        $refuses = true;
        $heard = [];
        $open = function (string $name) use (&$refuses): QueueInterface {
            return $refuses ? throw new RuntimeException('no room') : $this->delayQueue($name);
        };
        $runner = new Runner($this->queue, $open, static function (string $what, \Throwable $error) use (&$heard): void {
            $heard[] = "$what: {$error->getMessage()}";
        });
        $this->clock('08:40:00');
        $this->runSchedules(1, $runner);
        $this->runSchedules(0, $runner);
        $this->clock('08:40:05');
        $this->runSchedules(1, $runner);
        $this->assertSame(array_fill(0, 2, 'schedule a cannot push its job, and tries again: no room'), $heard);
        $this->assertStringContainsString('no room', (string) $this->schedules->get('a')?->lastError);
        $this->assertSame('01-08 08:40:00', $this->nextOf('a'));
        $this->assertSame(['delayed', '08:40:10'], [$this->queue->peek('a')?->state->value, gmdate('H:i:s', (int) $this->queue->peek('a')?->dueAt)]);

        $refuses = false;
        $this->clock('08:41:30');
        $this->runSchedules(1, $runner);
        $this->assertSame([['08:40:00Z'], '01-08 08:50:00'], [$this->pushed(), $this->nextOf('a')]);
        $this->assertNull($this->schedules->get('a')?->lastError);
    }

    public function testNoMomentIsLostWhereTheNoteIsRefusedToo(): void
    {
        foreach (['all' => CatchUp::All, 'latest' => '1h'] as $name => $catchUp) {
            $this->schedules->set($name, Cron::parse(self::EVERY_TEN), queue: $name, catchUp: $catchUp);
        }
        foreach (['08:40:00', '08:50:01', '09:00:02'] as $moment) {
            $this->clock($moment);
            // As the loop leaves them when neither a note nor a release gets through.
            foreach ($this->queue->reserveMany(10) as $job) {
                $job->fail('Redis is away');
            }
        }
        $this->assertStringContainsString('Redis is away', (string) $this->schedules->get('latest')?->lastError);
        $this->clock('09:00:04');
        $this->runSchedules(2);
        $this->assertSame(['08:40:00Z', '08:50:00Z', '09:00:00Z'], $this->pushed('all'));
        $this->assertSame(['09:00:00Z'], $this->pushed('latest'));
    }

    /** @return list<array{Overlap}> */
    public static function refusals(): array
    {
        return [[Overlap::Allow], [Overlap::Skip]];
    }

    public function testAQueueThatIsFull(): void
    {
        $this->delayQueue('target')->push('x');
        $runner = new Runner($this->queue, fn (string $name): QueueInterface => $this->delayQueue($name, ['capacity' => 1]));
        $this->schedules->set('a', Cron::parse(self::EVERY_TEN), queue: 'target', catchUp: CatchUp::All);
        $this->clock('08:50:00');
        $this->runSchedules(1, $runner);
        $this->assertSame([0, 1], [$this->queue->count(State::Buried), $this->queue->count(State::Delayed)]);
        $this->assertStringContainsString('QueueFull', (string) $this->schedules->get('a')?->lastError);
    }

    public function testAQueueWithRoomForSomeMissedMomentsTakesTheOthersLater(): void
    {
        $runner = new Runner($this->queue, fn (string $name): QueueInterface => $this->delayQueue($name, ['capacity' => 2]));
        $this->schedules->set('a', Cron::parse(self::EVERY_TEN), queue: 'target', catchUp: CatchUp::All);
        $done = [];
        foreach (['09:15:00', '09:16:00'] as $moment) {
            $this->clock($moment);
            $this->runSchedules(1, $runner);
            // Days later their ids are free again.
            $this->delayQueue('target')->forgetReceipts(...array_column($this->delayQueue('target')->takenIds(), 'id'));
            while (($job = $this->delayQueue('target')->reserve()) !== null) {
                $done[] = substr($job->id, -9);
                $job->ack();
            }
        }
        $this->assertSame(['08:40:00Z', '08:50:00Z', '09:00:00Z', '09:10:00Z'], $done);
    }

    public function testAJobThatIsNoScheduleIsBuried(): void
    {
        $this->queue->push(['order' => 1], id: 'x');
        $this->queue->push(['every' => 0.5, 'queue' => 'target'], id: 'y');
        $this->queue->push('text', id: 'z');
        $this->queue->push(['every' => 5, 'queue' => 'target', 'jitter' => []], id: 'jitter');
        $this->queue->push(['cron' => [], 'queue' => 'target'], id: 'cron');
        $this->runSchedules(5);
        $this->assertSame(
            ['x' => 'the job is no schedule: it names no queue', 'z' => 'the job is no schedule: it names no queue'],
            array_map(fn (string $id): ?string => $this->queue->peek($id)?->lastError, ['x' => 'x', 'z' => 'z']),
        );
        $this->assertStringContainsString('must be at least 1 second', (string) $this->queue->peek('y')?->lastError);
        $this->assertSame(5, $this->queue->count(State::Buried));
    }

    public function testARunnerWhoseLeaseIsOverPushesNothing(): void
    {
        $this->schedules->set('a', Cron::parse(self::EVERY_TEN), queue: 'target');
        $this->clock('08:40:00');
        $job = $this->queue->reserve();
        $this->clock('08:41:00');
        try {
            (new Runner($this->queue))($job, $this->queue);
            $this->fail('it went on');
        } catch (\DelayQueue\LeaseLostException) {
            $this->assertSame([], $this->pushed());
        }
    }

    public function testAKickDoesNotMakeMomentsUp(): void
    {
        $this->schedules->set('a', Every::interval('10m'), queue: 'target');
        $this->clock('08:35:00');
        $this->queue->kickJob('a');
        $this->runSchedules();
        $this->assertSame('01-08 08:40:00', $this->nextOf('a'));
        $this->assertStringStartsWith('08:40:00', $this->schedules->get('a')?->next()[0]->format('H:i:s') ?? '');
    }
}
