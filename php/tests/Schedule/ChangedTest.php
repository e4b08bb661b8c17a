<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Schedule;

use Closure;
use DateTimeImmutable;
use DelayQueue\QueueInterface;
use DelayQueue\Schedule\CatchUp;
use DelayQueue\Schedule\Cron;
use DelayQueue\Schedule\Every;
use DelayQueue\Schedule\Overlap;
use DelayQueue\Schedule\Runner;
use DelayQueue\Schedule\Schedules;
use DelayQueue\Tests\Flow\HookedQueue;
use PHPUnit\Framework\TestCase;
use RuntimeException;

/** Rules of moments when a schedule is changed, paused or resumed. */
final class ChangedTest extends TestCase
{
    use QueueOfSchedules;

    public function testANewPayloadLeavesTheMomentThatIsDue(): void
    {
        $this->cron('0 9 * * *', payload: 'old');
        $this->clock('09:01:30');
        $this->cron('0 9 * * *', payload: 'new');
        $this->assertSame('01-08 09:00:00', $this->nextOf('a'));
        $this->runSchedules();
        $this->assertSame('new', $this->delayQueue('target')->peekReady()?->payload);
        $this->assertSame([['09:00:00Z'], '01-09 09:00:00'], [$this->pushed(), $this->nextOf('a')]);
    }

    public function testAnIntervalRunsThoughItsPayloadChangesMoreOften(): void
    {
        foreach (['08:30:00', '09:00:00', '09:30:01', '10:00:00', '10:30:01', '11:00:00'] as $number => $moment) {
            $this->clock($moment);
            $this->schedules->set('a', Every::interval('1h'), queue: 'target', payload: $number);
            $this->runDueJobs(new Runner($this->queue), $this->queue);
        }
        $moments = array_map(static fn (string $id): string => substr($id, 0, 8), $this->pushed());
        $this->assertSame(['09:30:00', '10:30:00'], $moments);
    }

    public function testANewClockCatchesUpWhatWasDueUnderTheOldOne(): void
    {
        $this->cron('0 9 * * *');
        $this->clock('09:05:00');
        $this->cron('0,4,30 * * * *');
        $time = static fn (DateTimeImmutable $moment): string => $moment->format('H:i');
        $this->assertSame(['09:00', '09:30', '10:00'], array_map($time, $this->schedules->get('a')?->next(3) ?? []));
        $this->runSchedules();
        $this->assertSame([['09:00:00Z'], '01-08 09:30:00'], [$this->pushed(), $this->nextOf('a')], 'not 09:04');
    }

    public function testWhatWasDueIsCaughtUpAsTheNewDefinitionSays(): void
    {
        $this->cron('0 9 * * *');
        $this->clock('09:05:00');
        $this->cron('0 10 * * *', catchUp: '2m');
        $this->runSchedules();
        $this->assertSame([[], '01-08 10:00:00'], [$this->pushed(), $this->nextOf('a')]);
    }

    public function testAllMomentsOfEachFormerClockAreCaughtUp(): void
    {
        $this->cron('*/10 * * * *', catchUp: CatchUp::All);
        $this->clock('08:55:00');
        $this->schedules->set('a', Every::interval('7m'), queue: 'target', catchUp: CatchUp::All);
        $this->clock('09:04:00');
        $this->cron('*/30 * * * *', catchUp: CatchUp::All);
        $this->clock('09:31:00');
        $this->runSchedules();
        $pushed = array_map(static fn (string $id): string => substr($id, 0, 5), $this->pushed());
        $this->assertSame(['08:40', '08:50', '09:02', '09:30'], $pushed);
        $this->assertSame('01-08 10:00:00', $this->nextOf('a'));
    }

    public function testWhatWasDueIsLeftToLaterWhereTheTargetIsFull(): void
    {
        $this->cron('*/10 * * * *', catchUp: CatchUp::All);
        $this->clock('08:55:00');
        $this->cron('*/30 * * * *', catchUp: CatchUp::All);
        $open = fn (string $name): QueueInterface => $this->delayQueue($name, ['capacity' => 1]);
        $runner = new Runner($this->queue, $open);
        $done = [];
        foreach (['09:31:00', '09:33:00', '09:35:00', '09:37:00'] as $moment) {
            $this->clock($moment);
            $this->runSchedules(1, $runner);
            $job = $this->delayQueue('target')->reserve();
            $done[] = substr((string) $job?->id, -9, 5);
            $job?->ack();
        }
        $this->assertSame(['08:40', '08:50', '09:00', '09:30'], $done);
        $this->assertSame('01-08 10:00:00', $this->nextOf('a'));
    }

    public function testAPauseLeavesOutItsOwnMomentsOnly(): void
    {
        foreach (['latest' => '1h', 'all' => CatchUp::All] as $queue => $catchUp) {
            $this->schedules->set($queue, Cron::parse('*/10 * * * *'), queue: $queue, catchUp: $catchUp);
        }
        $this->clock('08:41:00');
        $this->assertTrue($this->schedules->pause('latest') && $this->schedules->pause('all'));
        $this->clock('09:05:00');
        $this->runSchedules(0);
        $this->schedules->set('all', Cron::parse('*/10 * * * *'), queue: 'all', payload: 'new', catchUp: CatchUp::All);
        $this->assertTrue($this->schedules->resume('latest') && $this->schedules->resume('all'));
        $this->runSchedules(2);
        $this->assertSame([['08:40:00Z'], ['08:40:00Z']], [$this->pushed('latest'), $this->pushed('all')]);
        $this->assertSame(['01-08 09:10:00', '01-08 09:10:00'], [$this->nextOf('latest'), $this->nextOf('all')]);
    }

    /**
     * @dataProvider ends
     *
     * @param Closure(Schedules): mixed $change
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('ends')]
    public function testMomentsAfterAPauseThatHasEndedAreCaughtUp(Closure $change): void
    {
        $this->cron('*/10 * * * *', payload: 'old', catchUp: CatchUp::All);
        $this->schedules->pause('a', '25m');
        $this->clock('09:15:00');
        $change($this->schedules);
        $this->runSchedules();
        $this->assertSame(['09:00:00Z', '09:10:00Z'], $this->pushed());
    }

    /** @return array<string, array{Closure(Schedules): mixed}> */
    public static function ends(): array
    {
        $cron = Cron::parse('*/10 * * * *');
        $set = static fn (Schedules $schedules) => $schedules->set('a', $cron, 'target', catchUp: CatchUp::All);

        return [
            'by itself' => [static fn () => null],
            'with a change' => [$set],
            'with resume()' => [static fn (Schedules $schedules) => $schedules->resume('a')],
            'before another one' => [
                static fn (Schedules $schedules) => $schedules->pause('a') && $schedules->resume('a'),
            ],
        ];
    }

    public function testABuriedScheduleThatComesBackIsCaughtUp(): void
    {
        $this->cron('0 9 * * *');
        $this->clock('09:00:01');
        $this->queue->reserve()?->bury('unreadable');
        $this->clock('09:05:00');
        $this->assertTrue($this->schedules->resume('a'));
        $this->runSchedules();
        $this->assertSame([['09:00:00Z'], '01-09 09:00:00'], [$this->pushed(), $this->nextOf('a')]);
    }

    public function testAMomentThatWasTriedIsTriedAfterAChange(): void
    {
        $this->cron('0 9 * * *', catchUp: 0);
        $this->clock('09:00:01');
        $this->runSchedules(1, new Runner($this->queue, static fn () => throw new RuntimeException('full')));
        $this->clock('09:20:00');
        $this->cron('0 9 * * *', payload: 'new', catchUp: 0);
        $this->runSchedules();
        $this->assertSame(['09:00:00Z'], $this->pushed());
        $this->assertNull($this->schedules->get('a')?->lastError);
    }

    public function testAnOverlapKnowsTheFormerJobAfterAChange(): void
    {
        $this->cron('*/10 * * * *', overlap: Overlap::Skip);
        $this->clock('08:40:00');
        $this->runSchedules();
        $this->clock('08:51:00');
        $this->cron('*/10 * * * *', payload: 'new', overlap: Overlap::Skip);
        $this->runSchedules();
        $this->assertSame(['08:40:00Z'], $this->pushed());
    }

    /**
     * @dataProvider changes
     *
     * @param Closure(Schedules): mixed $change
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('changes')]
    public function testAChangeOfAnotherProcessBetweenALookAndAChangeIsKept(Closure $change): void
    {
        $this->cron('*/10 * * * *', payload: 'old');
        $this->schedules->pause('a');
        $hook = function (bool $isOver, string $method): void {
            if ($isOver && $method === 'peek' && $this->schedules->get('a')?->payload === 'old') {
                $this->cron('*/20 * * * *', payload: 'new', overlap: Overlap::Skip);
            }
        };
        $change(new Schedules(HookedQueue::of($this->queue, $hook)));
        $schedule = $this->schedules->get('a');
        $this->assertSame('*/20 * * * * UTC', (string) $schedule?->when);
        $this->assertSame('new', $schedule?->payload);
        $this->assertSame(Overlap::Skip, $schedule?->overlap);
    }

    /** @return array<string, array{Closure(Schedules): mixed}> */
    public static function changes(): array
    {
        return [
            'pause' => [static fn (Schedules $schedules) => $schedules->pause('a', '1h')],
            'resume' => [static fn (Schedules $schedules) => $schedules->resume('a')],
        ];
    }

    public function testARunBetweenALookAndAChangeIsKept(): void
    {
        $this->cron('*/10 * * * *', payload: 'old', overlap: Overlap::Skip);
        $this->clock('08:40:00');
        $hook = function (bool $isOver, string $method): void {
            if ($isOver && $method === 'peek' && $this->delayQueue('target')->count() === 0) {
                $this->runSchedules();
            }
        };
        $schedules = new Schedules(HookedQueue::of($this->queue, $hook));
        $schedules->set('a', Cron::parse('*/10 * * * *'), queue: 'target', payload: 'new', overlap: Overlap::Skip);
        $this->assertSame('01-08 08:50:00', $this->nextOf('a'));
        $this->clock('08:50:00');
        $this->runSchedules();
        $this->assertSame(['08:40:00Z'], $this->pushed(), 'the job of 08:40 is known');
    }

    public function testNumbersThatPhpWouldRoundStayAsTheyAreStored(): void
    {
        $payload = '{"id":12345678901234567890,"none":{}}';
        $definition = '{"cron":"*/10 * * * *","queue":"target","payload":' . $payload . ',"overlap":"skip"}';
        $due = new DateTimeImmutable('2030-01-08 08:40 UTC');
        $this->delayQueue('schedules', ['format' => 'raw'])->push($definition, $due, 'a');
        foreach (['08:40:00', '08:50:00'] as $moment) {
            $this->clock($moment);
            $this->runSchedules();
            $this->schedules->pause('a');
            $this->schedules->resume('a');
            $job = $this->delayQueue('target')->reserve();
            $this->assertSame($payload, $job?->body);
            $job?->ack();
        }
        $this->assertSame($payload, $this->delayQueue('target')->peek((string) $this->schedules->runNow('a'))?->body);
    }

    private function cron(string $line, mixed ...$options): void
    {
        $this->schedules->set('a', Cron::parse($line), 'target', ...$options);
    }
}
