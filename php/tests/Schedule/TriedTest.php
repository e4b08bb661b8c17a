<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Schedule;

use Closure;
use DateTimeImmutable;
use DelayQueue\ConnectionException;
use DelayQueue\QueueInterface;
use DelayQueue\Schedule\CatchUp;
use DelayQueue\Schedule\Cron;
use DelayQueue\Schedule\Every;
use DelayQueue\Schedule\Overlap;
use DelayQueue\Schedule\Runner;
use PHPUnit\Framework\TestCase;
use RuntimeException;
use Throwable;

/** Rules of Runner for moments that were tried, and for jobs of schedules that somebody moved. */
final class TriedTest extends TestCase
{
    use QueueOfSchedules;

    /** @dataProvider overlaps */
    #[\PHPUnit\Framework\Attributes\DataProvider('overlaps')]
    public function testAMomentThatWasTriedIsNotMissed(Overlap $overlap): void
    {
        $this->schedules->set('a', Cron::parse('0 9 * * *'), queue: 'target', catchUp: 0, overlap: $overlap);
        $this->try(new RuntimeException('full'), '09:00:01', '09:00:21', '09:01:30', '11:00:00');
        $this->assertSame('01-08 09:00:00', $this->nextOf('a'));
        $this->assertStringContainsString('full', (string) $this->schedules->get('a')?->lastError);
        $this->clock('12:00:00');
        $this->runSchedules();
        $this->assertSame([['09:00:00Z'], '01-09 09:00:00'], [$this->pushed(), $this->nextOf('a')]);
        $this->assertNull($this->schedules->get('a')?->lastError);
        $this->assertArrayNotHasKey('dq-tried', $this->queue->peek('a')->headers ?? []);
    }

    /** @return list<array{Overlap}> */
    public static function overlaps(): array
    {
        return [[Overlap::Allow], [Overlap::Skip]];
    }

    public function testOfMomentsThatWereTriedTheLatestOneRuns(): void
    {
        $this->schedules->set('a', Cron::parse('0 * * * *'), queue: 'target', catchUp: 0);
        $this->try(new RuntimeException('full'), '09:00:01', '09:59:58', '10:00:50', '10:30:00');
        $this->clock('10:59:00');
        $this->runSchedules();
        $this->assertSame(['10:00:00Z'], $this->pushed());
    }

    public function testAMomentWhoseJobMayBePushedIsTriedForAsLongAsItsIdIsTaken(): void
    {
        $this->schedules->set('a', Cron::parse('0 9 * * *'), queue: 'target', catchUp: 0);
        $inDoubt = new ConnectionException('the answer is lost');
        $inDoubt->ambiguous = true;
        $this->try($inDoubt, '09:00:01');
        $this->try(new RuntimeException('full'), '09:00:21', '09:02:00');
        $this->assertSame('01-09 09:00:00', $this->nextOf('a'), 'given up after a minute');
    }

    public function testARunnerThatDiedMayHavePushedItsJob(): void
    {
        $this->schedules->set('a', Cron::parse('0 9 * * *'), queue: 'target', catchUp: 0);
        $this->clock('09:00:00');
        $this->queue->reserve();
        $this->try(new RuntimeException('full'), '09:00:40', '09:02:00');
        $this->assertSame('01-09 09:00:00', $this->nextOf('a'));
    }

    public function testARunnerThatDiedIsForgottenAtTheNextMoment(): void
    {
        $this->schedules->set('a', Cron::parse('0 9 * * *'), queue: 'target', catchUp: 0);
        $this->clock('09:00:00');
        $this->queue->reserve();
        $this->clock('09:00:40');
        $this->runSchedules();
        $this->delayQueue('target')->reserve()?->ack();

        $runner = new Runner($this->queue, self::refusing(new RuntimeException('full')));
        foreach (['09:00:01', '09:02:00'] as $moment) {
            $this->travelTo(new DateTimeImmutable("2030-01-09 $moment UTC"));
            $this->runSchedules(1, $runner);
        }
        $this->travelTo(new DateTimeImmutable('2030-01-09 12:00:00 UTC'));
        $this->runSchedules();
        $this->assertSame(['2030-01-09T09:00:00Z'], $this->pushed());
    }

    public function testARepeatAfterDaysPushesNothing(): void
    {
        $this->schedules->set('a', Cron::parse('0 9 * * TUE'), queue: 'target', catchUp: '6d');
        $this->clock('09:00:01');
        $this->runSchedules();
        $this->delayQueue('target')->reserve()?->ack();
        $this->travelTo(new DateTimeImmutable('2030-01-13 09:00:00 UTC'));
        $this->queue->kickJob('a');
        $this->runSchedules();
        $this->assertSame([[], '01-15 09:00:00'], [$this->pushed(), $this->nextOf('a')]);
    }

    public function testAnIdIsTakenNoLongerThanItsMomentIsTheLatest(): void
    {
        $window = static fn (string $catchUp): float => 300.0 + max(60.0, min((float) $catchUp * 3600, 600.0));
        foreach (['0h', '1h', '300h'] as $catchUp) {
            $this->schedules->set('a', Every::interval('10m'), queue: 'target', catchUp: $catchUp);
            $job = $this->schedules->get('a')?->definition->job('a@x', new DateTimeImmutable('2030-01-08 08:40:00 UTC'));
            $this->assertSame($window($catchUp), $job['unique'] ?? null);
        }
        $until = new DateTimeImmutable('2030-01-08 08:45:00 UTC');
        $this->schedules->set('a', Every::interval('10m'), queue: 'target', catchUp: '2d', until: $until);
        $this->assertSame(172800.0 + 300.0, $this->schedules->get('a')?->definition->job('a@x', $until)['unique'], 'the last one may be caught up');
    }

    public function testAToolThatMovesTheJobMakesNoMomentUp(): void
    {
        $this->schedules->set('cron', Cron::parse('0 9 * * *'), queue: 'target', catchUp: '3d');
        $this->schedules->set('every', Every::interval('30m'), queue: 'target', catchUp: '3d');
        foreach (['cron', 'every'] as $name) {
            $this->queue->reschedule($name, new DateTimeImmutable('2030-01-08 08:40:00 UTC'));
        }
        $this->clock('08:41:00');
        $this->runSchedules(2);
        $this->assertSame([[], '01-08 09:00:00', '01-08 09:00:00'], [$this->pushed(), $this->nextOf('cron'), $this->nextOf('every')]);
    }

    public function testMomentsThatAreLeftOutAreTold(): void
    {
        $this->schedules->set('none', Cron::parse('0 9 * * *'), queue: 'target', catchUp: 0);
        $this->schedules->set('one', Cron::parse('*/10 * * * *'), queue: 'target');
        $this->schedules->set('all', Every::interval('1m'), queue: 'other', catchUp: CatchUp::All);
        $this->schedules->set('fine', Every::interval('25h'), queue: 'other', catchUp: '1h');
        $told = [];
        $runner = new Runner($this->queue, leftOut: static function (string $what) use (&$told): void {
            $told[] = $what;
        });
        $this->travelTo(new DateTimeImmutable('2030-01-09 10:00:05 UTC'));
        $this->runSchedules(4, $runner);
        sort($told);
        $this->assertStringStartsWith('schedule all leaves out the moments after 2030-01-09T01:10:00', $told[0] ?? '');
        $of = static fn (string $name, string $moments): string =>
            "schedule $name leaves out the moments from 2030-01-08T$moments: no runner was there";
        $this->assertSame([
            $of('none', '09:00:00Z to 2030-01-09T09:00:00Z'),
            $of('one', '08:40:00Z until before 2030-01-09T10:00:00Z'),
        ], array_slice($told, 1));
    }

    /** A runner at each of these moments, whose target refuses. */
    private function try(Throwable $error, string ...$moments): void
    {
        $runner = new Runner($this->queue, self::refusing($error));
        foreach ($moments as $moment) {
            $this->clock($moment);
            $this->runSchedules(1, $runner);
        }
    }

    /** @return Closure(string): QueueInterface */
    private static function refusing(Throwable $error): Closure
    {
        return static fn (string $name): QueueInterface => throw $error;
    }
}
