<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Schedule;

use DateTimeImmutable;
use DelayQueue\Backoff;
use DelayQueue\OnExpiry;
use DelayQueue\Schedule\CatchUp;
use DelayQueue\Schedule\Cron;
use DelayQueue\Schedule\Every;
use DelayQueue\Schedule\Overlap;
use DelayQueue\Schedule\Runner;
use DelayQueue\Schedule\Schedules;
use DelayQueue\SealException;
use PHPUnit\Framework\TestCase;
use ValueError;

/** Rules of Schedules. */
final class SchedulesTest extends TestCase
{
    use QueueOfSchedules;

    public function testAScheduleIsADelayedJobWithItsDefinition(): void
    {
        $cron = Cron::parse('0 9 * * MON-FRI', 'Europe/Berlin');
        $set = $this->schedules->set('invoices', $cron, queue: 'target', payload: ['to' => (object) []], overlap: Overlap::Skip, catchUp: '2h');

        $this->assertTrue($set);
        $job = $this->queue->peek('invoices');
        $this->assertSame(['delayed', 30.0, 0], [$job?->state->value, $job?->ttr, $job?->maxAttempts]);
        $this->assertSame('2030-01-09T08:00:00Z', gmdate('Y-m-d\TH:i:s\Z', (int) $job?->dueAt));
        $definition = '{"cron":"0 9 * * MON-FRI","zone":"Europe/Berlin","queue":"target","payload":{"to":{}},"overlap":"skip","catchUp":7200.0}';
        $this->assertSame($definition, $job?->body);

        $schedule = $this->schedules->get('invoices');
        $facts = [$schedule?->name, $schedule?->queue, $schedule?->overlap, $schedule?->catchUp, $schedule?->paused];
        $this->assertSame(['invoices', 'target', Overlap::Skip, 7200.0, false], $facts);
        $next = array_map(static fn (DateTimeImmutable $moment): string => $moment->format('D d H:i O'), $schedule?->next(4) ?? []);
        $this->assertSame(['Wed 09 09:00 +0100', 'Thu 10 09:00 +0100', 'Fri 11 09:00 +0100', 'Mon 14 09:00 +0100'], $next);
        $this->assertNull($this->schedules->get('nobody'));
    }

    public function testItPushesAJobAtEachMoment(): void
    {
        $this->schedules->set('poll', Every::interval('90s'), queue: 'target', payload: 4711);
        $this->clock('08:31:29');
        $this->runSchedules(0);
        $this->clock('08:31:31');
        $this->runSchedules();

        $job = $this->delayQueue('target')->reserve();
        $this->assertMatchesRegularExpression('/^poll@2030-01-08T08:31:30(\.\d{3})?Z$/', (string) $job?->id);
        $this->assertSame(4711, $job?->payload);
        $this->assertSame('01-08 08:33:00', $this->nextOf('poll'));
        $this->clock('08:33:01');
        $this->runSchedules();
        $this->assertCount(2, $this->pushed());
    }

    public function testItsJobsHaveTheOptionsOfPush(): void
    {
        $options = [
            'priority' => 7, 'ttr' => '5m', 'maxAttempts' => 3, 'backoff' => Backoff::fixed('3s'), 'timeout' => '2m', 'headers' => ['tenant' => 'acme'],
            'expires' => '1h', 'onExpiry' => OnExpiry::Drop, 'group' => 'g',
        ];
        $this->schedules->set('full', Every::interval(60), 'target', ['a' => 1.0, 'b' => (object) []], ...$options);
        $this->clock('08:31:01');
        $this->runSchedules();

        $job = $this->delayQueue('target')->peek($this->delayQueue('target')->peekReady()->id ?? '');
        $this->assertSame('{"a":1.0,"b":{}}', $job?->body);
        $facts = [$job?->priority, $job?->ttr, $job?->maxAttempts, (string) $job?->backoff, $job?->timeout, $job?->headers, $job?->group];
        $this->assertSame([7, 300.0, 3, 'fixed 3s', 120.0, ['tenant' => 'acme'], 'g'], $facts);
        $this->assertEqualsWithDelta($job?->dueAt + 3600, $job?->expiresAt, 5.0);
    }

    public function testTheSameDefinitionChangesNothing(): void
    {
        $set = fn (string $interval = '1h', mixed $payload = ['x' => 1]): bool => $this->schedules->set('a', Every::interval($interval), queue: 'target', payload: $payload);
        $set();
        $this->clock('08:45:00');
        $this->assertFalse($set());
        $this->assertSame('01-08 09:30:00', $this->nextOf('a'));
        $this->assertTrue($set(payload: ['x' => 2]));
        $this->assertSame('01-08 09:30:00', $this->nextOf('a'), 'a new payload has the old clock');
        $this->assertTrue($set('2h', ['x' => 2]));
        $this->assertSame('01-08 10:45:00', $this->nextOf('a'));
        $this->assertSame(1, $this->queue->count());
    }

    public function testAScheduleThatARunnerHoldsIsChangedWhenItsLeaseIsOver(): void
    {
        $changes = [
            'set' => fn (): bool => $this->schedules->set('a', Every::interval(60), queue: 'target', payload: 'new'),
            'pause' => fn (): bool => $this->schedules->pause('a'),
            'resume' => fn (): bool => $this->schedules->resume('a'),
        ];
        foreach ($changes as $name => $change) {
            $this->schedules->set('a', Every::interval(60), queue: 'target', payload: 'old');
            $name === 'resume' && $this->schedules->pause('a', '1ms');
            $this->clock('08:31:01');
            $held = $this->queue->reserveJob('a');
            $held?->touch('1200ms');
            $this->assertTrue($change(), $name);
            $schedule = $this->schedules->get('a');
            $this->assertSame([$name === 'set' ? 'new' : 'old', $name === 'pause'], [$schedule?->payload, $schedule?->paused], $name);
            try {
                $held?->ack();
                $this->fail('the runner has removed it');
            } catch (\DelayQueue\LeaseLostException) {
                $this->schedules->remove('a');
            }
        }
    }

    public function testAnUnchangedScheduleMayBeAtItsEnd(): void
    {
        $until = new DateTimeImmutable('2030-01-08 08:35:00 UTC');
        $set = fn (): bool => $this->schedules->set('a', Every::interval('2m'), queue: 'target', until: $until);
        $set();
        $this->clock('08:34:30');
        $this->assertFalse($set());
        $this->clock('08:36:00');
        $this->assertFalse($set());
        $this->runSchedules();
        $this->expectException(ValueError::class);
        $set();
    }

    public function testABuriedScheduleIsSeenAndComesBack(): void
    {
        $this->schedules->set('a', Every::interval('10m'), queue: 'target');
        $this->queue->reserveJob('a')?->bury('unreadable');
        $schedule = iterator_to_array($this->schedules->all())['a'] ?? null;
        $this->assertSame([true, null, 'unreadable', []], [$schedule?->buried, $schedule?->nextAt, $schedule?->lastError, $schedule?->next(3)]);
        $this->assertTrue($this->schedules->resume('a'));
        $this->assertSame([false, '01-08 08:40:00'], [$this->schedules->get('a')?->buried, $this->nextOf('a')]);
    }

    public function testPauseAndResume(): void
    {
        $this->schedules->set('a', Every::interval('10m'), queue: 'target');
        $this->assertTrue($this->schedules->pause('a'));
        $this->assertNull($this->schedules->get('a')?->nextAt);
        $this->assertTrue($this->schedules->get('a')?->paused);
        $this->clock('09:35:00');
        $this->runSchedules(0);
        $this->assertFalse($this->schedules->set('a', Every::interval('10m'), queue: 'target'), 'a deployment does not resume it');
        $this->assertTrue($this->schedules->set('a', Every::interval('10m'), queue: 'target', payload: 1));
        $this->assertTrue($this->schedules->get('a')?->paused);
        $this->assertTrue($this->schedules->resume('a'));
        $this->assertFalse($this->schedules->resume('a'), 'it was not paused any more');
        $this->runSchedules(0);
        $this->assertSame([[], '01-08 09:40:00'], [$this->pushed(), $this->nextOf('a')], 'nothing is caught up');
        $this->assertSame([false, false, false], [$this->schedules->pause('x'), $this->schedules->resume('x'), $this->schedules->remove('x')]);
    }

    public function testAPauseThatEndsByItself(): void
    {
        $this->schedules->set('a', Cron::parse('*/10 * * * *'), queue: 'target', overlap: Overlap::Replace);
        $this->schedules->pause('a', '45m');
        $this->assertSame('01-08 09:20:00', $this->nextOf('a'));
        $this->clock('09:16:00');
        $this->runSchedules();
        $this->assertSame([[], '01-08 09:20:00', false], [$this->pushed(), $this->nextOf('a'), $this->schedules->get('a')?->paused]);
        $this->clock('09:20:00');
        $this->runSchedules();
        $this->assertSame(['09:20:00Z'], $this->pushed());
    }

    public function testRunNowPushesAJobAndKeepsTheNextMoment(): void
    {
        $this->schedules->set('a', Cron::parse('0 12 * * *'), queue: 'target', payload: 5);
        $id = $this->schedules->runNow('a');
        $this->assertStringStartsWith('a@2030-01-08T08:30:00', (string) $id);
        $this->assertSame(5, $this->delayQueue('target')->reserve()?->payload);
        $this->assertSame('01-08 12:00:00', $this->nextOf('a'));
        $this->assertNull($this->schedules->runNow('nobody'));
    }

    public function testAllGivesEachOnce(): void
    {
        foreach (range(1, 12) as $n) {
            $this->schedules->set("s$n", Every::interval($n . 'm'), queue: 'target');
        }
        $this->queue->push('no schedule', delay: 60, id: 'stranger');
        $this->clock('08:33:01');
        $this->queue->reserve();
        $names = array_keys(iterator_to_array($this->schedules->all()));
        sort($names, SORT_NATURAL);
        $this->assertSame(array_map(static fn (int $n): string => "s$n", range(1, 12)), $names);
        $this->assertTrue($this->schedules->remove('s3'));
        $this->assertNull($this->schedules->get('s3'));
        $this->assertNull($this->schedules->get('stranger'));
    }

    /** @dataProvider mistakes */
    #[\PHPUnit\Framework\Attributes\DataProvider('mistakes')]
    public function testAMistakeIsAValueErrorAndStoresNothing(array $arguments, string $message): void
    {
        try {
            $this->schedules->set(...$arguments + ['name' => 'a', 'when' => Every::interval('1m'), 'queue' => 'target']);
            $this->fail('no ValueError');
        } catch (ValueError $error) {
            $this->assertStringStartsWith('DelayQueue\Schedule\Schedules::set(): Argument ' . $message, $error->getMessage());
        }
        $this->assertSame(0, $this->queue->count());
    }

    /** @return array<string, array{array<string, mixed>, string}> */
    public static function mistakes(): array
    {
        return [
            'no name' => [['name' => ''], '#1 ($name) must be between 1 and 200 bytes long'],
            'a name with a line feed' => [['name' => "a\n"], '#1 ($name) must not contain control characters'],
            'a name without room for a moment' => [['name' => str_repeat('a', 176)], '#1 ($name) must be at most 175 bytes long'],
            'a queue that is none' => [['queue' => 'a b'], '#3 ($queue) must be 1 to 200 bytes'],
            'the queue of schedules' => [['queue' => 'schedules'], '#3 ($queue) must be another queue'],
            'a jitter above the interval' => [['jitter' => '61s'], '#7 ($jitter) must be at most the time between two moments, 60 s'],
            'a jitter above the shortest one' => [['when' => Cron::parse('0 9,10 * * *'), 'jitter' => '61m'], '#7 ($jitter) must be at most the time between two moments, 3600 s'],
            'a past end' => [['until' => new DateTimeImmutable('2030-01-08 08:29 UTC')], '#8 ($until) must be in the future'],
            'an end before the first moment' => [['until' => new DateTimeImmutable('2030-01-08 08:30:30 UTC')], '#8 ($until) must be after the first moment, 2030-01-08T08:31:00+00:00'],
            'a negative catchUp' => [['catchUp' => -1], '#6 ($catchUp) must be greater than or equal to 0'],
            'a priority' => [['priority' => -1], '#9 ($priority) must be between'],
            'a ttr' => [['ttr' => 0], '#10 ($ttr) must be between'],
            'a header' => [['headers' => ['a b' => 'c']], '#14 ($headers) must have names'],
            'two ends' => [['expires' => 5, 'retryUntil' => 5], '#17 ($retryUntil) must not be given together with expires'],
            'a group' => [['group' => ''], '#18 ($group) must be between 1 and 200 bytes long'],
        ];
    }

    public function testTheNameOfAPauseThatIsNoDuration(): void
    {
        $this->expectException(ValueError::class);
        $this->expectExceptionMessage('DelayQueue\Schedule\Schedules::pause(): Argument #2 ($for) must be a number of seconds');
        $this->schedules->pause('a', 'soon');
    }

    public function testQueuesOfRawPayloads(): void
    {
        $queue = $this->delayQueue('schedules', ['format' => 'raw']);
        $schedules = new Schedules($queue);
        $schedules->set('a', Cron::parse('*/10 * * * *'), queue: 'target', payload: '{bytes', catchUp: CatchUp::All);
        $this->clock('09:00:00');
        $this->runDueJobs(new Runner($queue), $queue);
        $this->assertSame('{bytes', $this->delayQueue('target')->peekReady()?->body);
        $this->assertFalse($schedules->set('a', Cron::parse('*/10 * * * *'), queue: 'target', payload: '{bytes', catchUp: CatchUp::All));
    }

    public function testATargetOfRawPayloadsTakesStrings(): void
    {
        $schedules = new Schedules($this->queue, fn (string $name) => $this->delayQueue($name, ['format' => 'raw']));
        $this->expectException(ValueError::class);
        $this->expectExceptionMessage('Schedules::set(): Argument #4 ($payload) must be of type string: target has raw payloads');
        $schedules->set('a', Every::interval('1h'), queue: 'target', payload: ['x' => 1]);
    }

    public function testSealedQueues(): void
    {
        $queue = $this->delayQueue('schedules', ['keys' => ['k' => str_repeat('k', 32)]]);
        $schedules = new Schedules($queue);
        $set = static fn (): bool => $schedules->set('a', Cron::parse('*/10 * * * *'), queue: 'target', payload: ['x' => 1], overlap: Overlap::Skip);
        $this->assertSame([true, false], [$set(), $set()]);
        $this->clock('08:40:00');
        $this->runDueJobs(new Runner($queue), $queue);
        $this->assertSame(['x' => 1], $queue->sibling('target')->reserve()?->payload);
        $this->assertFalse($set());
        $this->assertSame('01-08 08:50:00', $schedules->get('a')?->nextAt?->format('m-d H:i:s'));
    }

    public function testQueuesWithPartitions(): void
    {
        $queue = $this->delayQueue('schedules', ['partitions' => 3]);
        $schedules = new Schedules($queue);
        foreach (range(1, 9) as $n) {
            $schedules->set("s$n", Cron::parse('*/10 * * * *'), queue: 'target', overlap: Overlap::Skip, group: "g$n");
        }
        foreach (['08:40:00', '08:50:00'] as $moment) {
            $this->clock($moment);
            $this->assertSame(9, $this->runDueJobs(new Runner($queue), $queue));
            $this->assertSame(9, $queue->sibling('target')->count());
        }
        $this->assertCount(9, iterator_to_array($schedules->all()));
    }

    public function testATargetThatNeedsKeysIsRefused(): void
    {
        $this->delayQueue('target', ['keys' => ['k' => str_repeat('k', 32)]])->push(1, delay: 60);
        try {
            $this->schedules->set('a', Every::interval('1h'), queue: 'target');
            $this->fail('it was set');
        } catch (SealException $error) {
            $this->assertSame(['queue target needs keys: its jobs are sealed', 0], [$error->getMessage(), $this->queue->count()]);
        }
    }

    public function testARunnerWithoutKeysDoesNotStart(): void
    {
        $sealed = $this->delayQueue('schedules', ['keys' => ['k' => str_repeat('k', 32)]]);
        (new Schedules($sealed))->set('a', Every::interval('1h'), queue: 'target');
        $this->assertInstanceOf(Runner::class, new Runner($sealed));
        $this->expectException(SealException::class);
        new Runner($this->queue);
    }

    public function testASealedQueueWithoutKeysIsRefused(): void
    {
        $sealed = new Schedules($this->delayQueue('schedules', ['keys' => ['k' => str_repeat('k', 32)]]));
        $sealed->set('a', Every::interval('1h'), queue: 'target');
        $body = $this->queue->peek('a')?->body;
        $set = fn (string $name): bool => $this->schedules->set($name, Every::interval('1m'), queue: 'target');
        $refused = [];
        $calls = [fn () => $set('a'), fn () => $set('b'), fn () => $this->schedules->get('a'), fn () => $this->schedules->pause('a'), fn () => $this->schedules->runNow('a'),
            fn () => iterator_to_array($this->schedules->all())];
        foreach ($calls as $call) {
            try {
                $call();
            } catch (SealException $error) {
                $refused[] = $error->getMessage();
            }
        }
        $this->assertCount(6, $refused);
        $this->assertStringStartsWith("schedule 'a' in queue 'schedules' cannot be opened: ", $refused[1]);
        $this->assertSame([1, $body], [$this->queue->count(), $this->queue->peek('a')?->body]);
    }
}
