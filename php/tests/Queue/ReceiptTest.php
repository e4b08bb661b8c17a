<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Queue;

use DelayQueue\OnDuplicate;
use DelayQueue\PushOnce;
use Generator;
use RuntimeException;

/** Jobs that arrive once, with their past, and what a queue keeps of them. */
final class ReceiptTest extends QueueCase
{
    /** @return array{int, int, int} */
    private static function counts(PushOnce $once): array
    {
        return [$once->added, $once->kept, $once->known];
    }

    public function testJobsOfATraversableArriveInChunks(): void
    {
        $queue = $this->queue();
        $jobs = static function (int $many): Generator {
            for ($n = 1; $n <= $many; ++$n) {
                yield ['receipt' => sprintf('r%04d', $n), 'payload' => $n];
            }
            if ($many < 1200) {
                throw new RuntimeException('no more');
            }
        };
        $this->assertSame('RuntimeException: no more', self::thrown(static fn () => $queue->pushOnce($jobs(700))));
        $this->assertSame(500, $queue->count(), 'whole chunks');
        $this->assertSame([700, 0, 500], self::counts($queue->pushOnce($jobs(1200))));
        $all = iterator_to_array($jobs(1200), false);
        $this->assertSame([0, 0, 1200], self::counts($queue->pushOnce($all)));
        $new = array_map(static fn (array $job): array => ['receipt' => "n$job[receipt]"] + $job, $all);
        $this->assertStringContainsString('item 1200', self::thrown(static fn () => $queue->pushOnce([...$new, ['receipt' => '']])));
        $this->assertSame(1200, $queue->count(), 'an array is checked as a whole');
        $this->assertSame([1000, 1200], [count($queue->receipts()), count($queue->receipts(limit: 5000))]);
        $this->assertSame(1200, $queue->forgetReceipts(...$queue->receipts(limit: 5000)));
    }

    public function testReceiptsAreListedByTheirAgeAndBeginning(): void
    {
        $queue = $this->queue();
        $this->assertSame([], $queue->receipts());
        $queue->pushOnce([['receipt' => 'old:2'], ['receipt' => 'old:1'], ['receipt' => '7']]);
        $this->travel('1h');
        $queue->pushOnce([['receipt' => 'b:1'], ['receipt' => 'old:3'], ['receipt' => 'old:1']]);

        $this->assertSame(['7', 'old:1', 'old:2', 'b:1', 'old:3'], $queue->receipts());
        $this->assertSame(['7', 'old:1', 'old:2'], $queue->receipts(olderThan: '30m'));
        $this->assertSame(['old:1', 'old:2', 'old:3'], $queue->receipts(prefix: 'old:'));
        $this->assertSame(['old:1', 'old:2'], $queue->receipts('30m', 'old:', 5));
        $this->assertSame([['7', 'old:1'], ['old:1']], [$queue->receipts(limit: 2), $queue->receipts(prefix: 'old', limit: 1)]);
        $this->assertSame([], $queue->receipts('2h'));
    }

    public function testAQueueWithReceiptsOrTakenIdsIsNotForgotten(): void
    {
        $queue = $this->queue();
        $queue->pushOnce([['receipt' => 'r1', 'payload' => 1, 'id' => 'a']]);
        $queue->push(1, id: 'b', unique: '1h');
        $this->assertSame(2, $queue->purge());
        $this->assertFalse($queue->forget());
        $this->assertSame([1, 1], [$queue->forgetReceipts('r1'), count($queue->takenIds())]);
        $this->assertFalse($queue->forget());
        $this->travel('61m');

        $this->assertTrue($queue->forget());
        $this->assertSame([[], 0], [$queue->queues(), $queue->stats()->pushed]);
        $this->assertSame([1, 0, 0], self::counts($queue->pushOnce([['receipt' => 'r1', 'payload' => 1]])));
    }

    public function testWhatIsPreparedIsWhatAPushStores(): void
    {
        $queue = $this->queue('rules', ['ttr' => 90, 'maxAttempts' => 3]);
        $arguments = ['payload' => ['order' => 4711], 'id' => 'a', 'priority' => 7, 'headers' => ['h' => 'x'], 'delay' => '15m', 'timeout' => 5];
        $prepared = $queue->prepare(...$arguments);
        $this->assertSame(0, $queue->count());
        $queue->push(...$arguments);
        $stored = $queue->peek('a');

        foreach (['id', 'body', 'headers', 'priority', 'ttr', 'maxAttempts', 'timeout', 'extras'] as $property) {
            $this->assertSame($stored?->$property, $prepared->$property, $property);
        }
        $this->assertSame([(string) $stored?->backoff, 900.0, null], [(string) $prepared->backoff, $prepared->delay, $prepared->dueAt]);
        $this->assertSame([OnDuplicate::Fail, null], [$prepared->onDuplicate, $prepared->unique]);
        $moment = new \DateTimeImmutable('2020-02-02 02:02:02.5 UTC');
        $prepared = $queue->prepare(1, $moment, 'b', onDuplicate: OnDuplicate::Keep, unique: '1h');
        $this->assertSame([null, (float) $moment->format('U.u')], [$prepared->delay, $prepared->dueAt]);
        $this->assertSame([OnDuplicate::Keep, 3600.0, '1'], [$prepared->onDuplicate, $prepared->unique, $prepared->body]);
        $this->assertNotSame($queue->prepare(1)->id, $queue->prepare(1)->id);
        $this->assertSame([1, false], [$prepared->partitions, $prepared->isSealed]);
        $spread = $this->queue('spread', ['partitions' => 3, 'keys' => ['k' => str_repeat('k', 32)]])->prepare(1);
        $this->assertSame([3, true], [$spread->partitions, $spread->isSealed]);
    }

    public function testWhatIsPreparedMayBePushedLater(): void
    {
        $queue = $this->queue();
        $later = static function (array $arguments, string $receipt) use ($queue): void {
            $prepared = $queue->prepare(...$arguments);
            $queue->pushOnce([[
                'receipt' => $receipt, 'id' => $prepared->id, 'payload' => json_decode($prepared->body, true), 'delay' => $prepared->delay,
                'extras' => $prepared->extras, 'onDuplicate' => $prepared->onDuplicate,
            ]]);
        };
        $later(['payload' => [1], 'id' => 'a', 'expires' => '1h', 'onDuplicate' => OnDuplicate::Keep], 'r1');
        $info = $queue->peek('a');
        $this->assertSame([1], $info?->payload);
        $this->assertEqualsWithDelta(3600.0, $info->expiresAt - $info->dueAt, 0.01);

        foreach (['r2', 'r3'] as $receipt) {
            $later(['payload' => $receipt, 'delay' => 60, 'id' => 'b', 'onDuplicate' => OnDuplicate::Replace, 'maxWait' => 90], $receipt);
            $this->travel(50);
        }
        $this->assertEqualsWithDelta($queue->now() - 100 + 90, $queue->peek('b')?->dueAt, 3.0);
    }

    public function testTheFormatOfAPayloadIsThatOfItsReader(): void
    {
        $queue = $this->queue();
        $raw = $queue->sibling($queue->name(), ['format' => 'raw']);
        $raw->pushOnce([['receipt' => 'r1', 'payload' => '{"n": 1.50}', 'id' => 'a']]);
        $queue->push(['n' => 2], id: 'b');

        $this->assertSame([['n' => 1.5], ['n' => 2]], [$queue->peek('a')?->payload, $queue->peekReady() === null ? null : $queue->peek('b')?->payload]);
        $this->assertSame(['{"n": 1.50}', '{"n":2}'], [$raw->peek('a')?->payload, $raw->peek('b')?->payload]);
        [$a, $b] = [$queue->reserve(), $raw->reserve()];
        $this->assertSame([['n' => 1.5], '{"n": 1.50}', '{"n":2}'], [$a?->payload, $a?->body, $b?->payload]);
        $a->release();
        $this->assertSame([['n' => 1.5]], $queue->consumer());
    }
}
