<?php

declare(strict_types=1);

namespace DelayQueue\Tests;

use DateTimeImmutable;
use DelayQueue;
use DelayQueue\Backoff;
use DelayQueue\Dump\Dump;
use DelayQueue\Dump\Load;
use DelayQueue\JobInfo;
use DelayQueue\OnDuplicate;
use DelayQueue\OnExpiry;
use DelayQueue\State;
use PHPUnit\Framework\TestCase;

/** A load restores all of a job, and does so once. */
final class LoadTest extends TestCase
{
    use OnAnyStore;

    public function testAJobOfEveryStateComesBackWithItsPast(): void
    {
        $queue = $this->delayQueue('orders');
        foreach (['fresh', 'failed', 'rescheduled', 'kicked', 'kickedToZero', 'released', 'uncounted', 'buried', 'lost'] as $n => $id) {
            $queue->push(['n' => $n], 60, $id, 1 + $n, '90s', 7, Backoff::fixed('1h'), 5, headers: ['tenant' => 'acme', '0' => 'zero']);
        }
        $queue->push(1, id: 'ready');
        $queue->push(1, delay: new DateTimeImmutable('-1 hour'), id: 'late');
        foreach (['failed', 'rescheduled', 'released', 'buried'] as $id) {
            $queue->reserveJob($id)->fail("no money for $id");
        }
        $queue->reschedule('rescheduled', 120);
        $queue->reserveJob('released')->release('2h');
        $queue->reserveJob('uncounted')->release(0, countAttempt: false);
        foreach (['buried', 'kicked', 'kickedToZero'] as $id) {
            $queue->reserveJob($id)->bury("never\nagain");
        }
        $queue->kickJob('kicked', resetAttempts: false);
        $queue->kickJob('kickedToZero');
        $queue->reserveJob('lost');
        $this->travel('91s');
        $queue->count(); // takes back what is lost
        $queue->reserveJob('lost')->release('3h');

        $lines = [...Dump::lines($queue)];
        $this->assertSame(array_fill(0, 11, true), iterator_to_array((new Load())->lines($lines, 'other')));
        $other = $this->delayQueue('other');
        $this->assertSame(self::withoutDump(self::of('other', $lines)), self::withoutDump(Dump::lines($other)), 'a second dump is equal');
        foreach (['failed', 'kicked', 'kickedToZero', 'released', 'buried', 'lost', 'late'] as $id) {
            $this->assertEquals(self::facts($queue->peek($id)), self::facts($other->peek($id)), $id);
        }
        $this->assertSame([1, 1, 1], [$other->peek('lost')->timeouts, $other->peek('kickedToZero')->kicks, $other->peek('released')->releases]);
        $this->assertSame("never\nagain", $other->peek('buried')->lastError);
    }

    public function testAHeldJobComesBackAsIfItsLeaseHadRunOut(): void
    {
        $queue = $this->delayQueue('orders');
        $queue->push(1, id: 'again');
        $queue->push(1, id: 'spent', maxAttempts: 1);
        $held = [$queue->reserveJob('again'), $queue->reserveJob('spent')];
        iterator_to_array((new Load())->lines(Dump::lines($queue), 'other'));
        $this->travel('61s');
        foreach ([$queue, $other = $this->delayQueue('other')] as $one) {
            $one->reserve()?->release(0, countAttempt: false);
            $again = $one->peek('again');
            $this->assertSame([State::Ready, 1, 1, 'lease expired'], [$again->state, $again->attempts, $again->timeouts, $again->lastError]);
            $spent = $one->peek('spent');
            $this->assertSame([State::Buried, 1, 1, 1], [$spent->state, $spent->attempts, $spent->timeouts, $spent->buries]);
            $this->assertStringStartsWith('lease expired', $spent->lastError);
        }
        $this->assertSame($queue->peek('again')->firstDueAt, $other->peek('again')->firstDueAt);
        unset($held);
    }

    public function testMomentsStay(): void
    {
        $queue = $this->delayQueue('orders');
        $queue->push(1, delay: 60, id: 'expires', expires: '5m', onExpiry: OnExpiry::Drop);
        $queue->push(1, delay: 60, id: 'retryUntil', retryUntil: new DateTimeImmutable('+2 hours'));
        $queue->push(1, delay: 60, id: 'debounced', onDuplicate: OnDuplicate::Replace, maxWait: '2m');
        $dump = [...Dump::lines($queue)];
        $this->travel('100s');
        iterator_to_array((new Load())->lines($dump, 'other'));
        $other = $this->delayQueue('other');
        foreach (['expires', 'retryUntil', 'debounced'] as $id) {
            [$old, $new] = [$queue->peek($id), $other->peek($id)];
            $this->assertSame([$old->expiresAt, $old->retryUntil, bin2hex($old->extras)], [$new->expiresAt, $new->retryUntil, bin2hex($new->extras)], $id);
        }
        $other->push(2, delay: 60, id: 'debounced', onDuplicate: OnDuplicate::Replace, maxWait: '2m');
        $this->travel('21s');
        $this->assertSame([State::Ready, 2], [$other->peek('debounced')->state, $other->peek('debounced')->payload]);
    }

    public function testSealedJobsKeepTheirPastWithoutKeys(): void
    {
        $sealed = $this->delayQueue('orders', ['keys' => ['k' => str_repeat('k', 32)]]);
        foreach (['waits', 'failed', 'buried'] as $id) {
            $sealed->push(['secret' => $id], 60, $id, headers: ['tenant' => 'acme'], expires: $id === 'waits' ? null : '5m');
        }
        $sealed->reserveJob('failed')->fail('no');
        $sealed->reserveJob('buried')->bury('never');
        $queue = $this->delayQueue('orders');
        $lines = [...Dump::lines($queue)];
        $facts = array_map(fn (string $id): array => self::facts($sealed->peek($id)), ['waits', 'failed', 'buried']);
        $queue->purge();
        $this->assertSame([true, true, true], iterator_to_array((new Load())->lines($lines), false));
        $this->assertSame(self::withoutDump($lines), self::withoutDump(Dump::lines($queue)));
        $this->assertEquals($facts, array_map(fn (string $id): array => self::facts($sealed->peek($id)), ['waits', 'failed', 'buried']));
        $this->assertSame(['secret' => 'failed'], $sealed->reserveJob('failed')?->payload);
    }

    public function testALoadThatIsRepeatedAfterHalfWasDoneAddsNothing(): void
    {
        foreach ([[1, 1], [1, 4], [2, 4]] as [$before, $after]) {
            $queue = $this->delayQueue("orders-$before-$after");
            $queue->pushMany(array_map(static fn (int $n): array => ['payload' => $n, 'id' => "job-$n"], range(1, 40)));
            $queue->reserveJob('job-39')->fail('no');
            $queue->reserveJob('job-40')->bury('no');
            $lines = [...Dump::lines($queue)];
            $into = "other-$before-$after";
            $other = $this->delayQueue($into, ['partitions' => $before]);
            $load = static fn (int $partitions): int => array_sum(iterator_to_array((new Load(options: ['partitions' => $partitions]))->lines($lines, $into)));
            $this->assertSame(40, $load($before));
            for ($n = 0; $n < 20; $n++) {
                $other->reserve()->ack();
            }
            $other->cancel('job-40');
            $this->assertSame(0, $load($after));
            $this->assertCount(19, $this->delayQueue($into, ['partitions' => $after]));
            $this->assertSame(0, $load($after));
        }
    }

    public function testALoadThatWasBrokenOffIsFinishedByTheNext(): void
    {
        $queue = $this->delayQueue('orders');
        $queue->pushMany(array_map(static fn (int $n): array => ['payload' => $n, 'id' => "job-$n"], range(1, 10)));
        $dump = [...Dump::lines($queue)];
        foreach ((new Load())->lines($dump, 'other') as $number => $isNew) {
            if ($number === 5) {
                break;
            }
        }
        $other = $this->delayQueue('other');
        $other->reserve()->ack();
        $answers = iterator_to_array((new Load())->lines($dump, 'other'), false);
        $this->assertSame([...array_fill(0, 6, false), ...array_fill(0, 4, true)], $answers);
        $this->assertCount(9, $other);
    }

    public function testAnotherDumpOfTheSameJobsIsLoadedAgain(): void
    {
        [$here, $there] = [$this->delayQueue('orders'), $this->delayQueue('other')];
        $here->push(1, id: 'a', delay: '1h');
        for ($moves = 0; $moves < 4; ++$moves) {
            $this->assertSame([true], iterator_to_array((new Load())->lines(Dump::lines($here), $there->name()), false));
            $here->purge();
            [$here, $there] = [$there, $here];
        }
        $this->assertSame(1, $here->peek('a')?->payload, 'back and forth, and nothing is left out');
    }

    public function testALaterJobOfTheSameIdIsLoaded(): void
    {
        $queue = $this->delayQueue('orders');
        foreach ([1, 2] as $n) {
            $queue->push($n, id: 'a', delay: 60);
            $this->assertSame([true], iterator_to_array((new Load())->lines(Dump::lines($queue), 'other'), false));
            $this->assertSame([false], iterator_to_array((new Load())->lines(Dump::lines($queue), 'other'), false));
            $this->assertSame($n, $this->delayQueue('other')->peek('a')?->payload);
            $queue->cancel('a');
            $this->delayQueue('other')->cancel('a');
            $this->travel(1);
        }
    }

    public function testForgottenReceiptsLetTheLinesBeLoadedAgain(): void
    {
        $queue = $this->delayQueue('orders');
        $queue->push(1, id: 'a', delay: 60);
        $lines = [...Dump::lines($queue)];
        $load = static function (int $known = 0) use ($lines): array {
            $load = new Load();
            $answers = iterator_to_array($load->lines($lines), false);
            self::assertSame($known, $load->known());

            return $answers;
        };
        $this->assertSame([false], $load(), 'it is there');
        $queue->purge();
        $this->assertSame([false], $load(known: 1), 'it was there');
        $this->assertSame(1, $queue->forgetReceipts(...$queue->receipts(prefix: 'load/')));
        $this->assertSame([true], $load());
    }

    public function testReceiptsAndTakenIdsMoveWithTheJobs(): void
    {
        $queue = $this->delayQueue('orders');
        $queue->pushOnce([['receipt' => 'outbox/1', 'payload' => 1, 'id' => 'a', 'delay' => 60], ['receipt' => "bytes \xFF", 'payload' => 2, 'id' => 'b']]);
        $queue->reserveJob('b')->ack();
        $queue->push(3, id: 'taken', unique: '10m');
        $queue->push(4, id: 'soonFree', unique: '1m');
        $queue->cancel('taken', 'soonFree');
        $lines = [...Dump::lines($queue)];
        $this->travel('2m');

        foreach (['forwards' => $lines, 'backwards' => array_reverse($lines)] as $into => $dump) {
            $soonFree = array_search('{"queue":"orders","takenId":"soonFree"', array_map(static fn (string $line): string => explode(',"until"', $line)[0], $dump), true);
            $answers = array_fill($into === 'forwards' ? 0 : 1, 5, true); // the end has none
            $answers[$soonFree] = false;
            $this->assertSame($answers, iterator_to_array((new Load())->lines($dump, $into)), 'one id is free by now');
            $this->assertSame(
                array_map(static fn (): bool => false, $answers),
                iterator_to_array((new Load())->lines($dump, $into)),
            );
            foreach ([1, 4] as $partitions) {
                $other = $this->delayQueue($into, ['partitions' => $partitions]);
                $known = $other->pushOnce([['receipt' => 'outbox/1', 'payload' => 1, 'id' => 'a'], ['receipt' => "bytes \xFF", 'payload' => 2, 'id' => 'b']]);
                $this->assertSame([0, 0, 2], [$known->added, $known->kept, $known->known]);
            }
            $this->assertNull($this->delayQueue($into)->tryPush(3, id: 'taken', unique: '10m'));
            $this->assertSame(['a'], array_column($other->list(State::Ready), 'id'));
            $this->assertEqualsWithDelta($queue->takenIds()[0]['until'], $other->takenIds()[0]['until'], 10);
            $again = implode("\n", [...Dump::lines($other)]);
            $this->assertStringNotContainsString('load/', $again, 'these are of this queue alone');
            $this->assertSame(5, substr_count($again, "\n") + 1, 'with the end');
        }
    }

    public function testAReceiptIsNotDumpedWithoutItsJob(): void
    {
        $queue = $this->delayQueue('orders');
        $queue->pushMany(array_map(static fn (int $n): array => ['payload' => $n, 'delay' => 60], range(1, 300)));
        $lines = [];
        foreach (Dump::lines($queue) as $line) {
            if ($lines === []) {
                // A page that was read does not have this one.
                $queue->pushOnce([['receipt' => 'outbox/1', 'payload' => 1, 'id' => 'early', 'delay' => 1]]);
                $queue->push(1, id: 'taken', delay: 1, unique: '10m');
            }
            $lines[] = $line;
        }
        $this->assertCount(301, $lines, 'with the end');
        $this->assertStringNotContainsString('early', implode($lines));
    }

    public function testALineWithoutAPastIsLoadedAsFarAsItGoes(): void
    {
        $queue = $this->delayQueue('orders');
        foreach (['delayed', 'failed', 'buried'] as $id) {
            $queue->push(1, 60, $id);
        }
        $queue->reserveJob('failed')->fail('no');
        $queue->reserveJob('buried')->bury('never');
        $later = array_fill_keys(['createdAt', 'leaseUntil', 'timeouts', 'releases', 'buries', 'kicks', 'firstDueAt'], 1);
        $older = static fn (string $line): string => json_encode(array_diff_key(json_decode($line, true), $later));
        $lines = array_map($older, [...Dump::lines($queue)]);
        $this->assertSame([true, true, true], iterator_to_array((new Load())->lines($lines, 'other')));
        $this->assertSame([false, false, false], iterator_to_array((new Load())->lines($lines, 'other')));
        $other = $this->delayQueue('other');
        $this->assertSame([1, 'no', null], [$other->peek('failed')->attempts, $other->peek('failed')->lastError, $other->peek('delayed')->firstDueAt]);
        $this->assertSame([State::Buried, 1, 'never'], [$other->peek('buried')->state, $other->peek('buried')->attempts, $other->peek('buried')->lastError]);
    }

    /** @return list<string> these lines, of another queue */
    /**
     * @param iterable<string> $lines
     *
     * @return list<string> without what tells dumps apart
     */
    private static function withoutDump(iterable $lines): array
    {
        return preg_replace('/,"dump":"\w+"/', '', [...$lines]);
    }

    private static function of(string $queue, array $lines): array
    {
        return array_map(static fn (string $line): string => str_replace('"queue":"orders"', "\"queue\":\"$queue\"", $line), $lines);
    }

    /** @return array<string, mixed> */
    private static function facts(?JobInfo $job): array
    {
        return array_diff_key(get_object_vars($job), ['queue' => 1]);
    }
}
