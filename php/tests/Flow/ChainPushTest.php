<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Flow;

use DateTimeImmutable;
use DelayQueue\Bury;
use DelayQueue\DuplicateJobException;
use DelayQueue\Flow\Chain;
use DelayQueue\Flow\ChainStep;
use DelayQueue\Flow\Follow;
use DelayQueue\State;
use TypeError;
use ValueError;

/** Chains that are allowed, and how they are stored. */
final class ChainPushTest extends ChainCase
{
    public function testAChainPushesItsFirstLinkAndKeepsTheOthers(): void
    {
        $id = Chain::of(['payload' => 'a', 'delay' => '5m'], ['payload' => 'b', 'queue' => 'other'])->push($this->queue());

        $this->assertSame('a', $this->queue()->peek($id)->payload);
        $this->assertSame(State::Delayed, $this->queue()->peek($id)->state);
        $this->assertSame(0, $this->queue('other')->count());
        $this->assertSame(['b'], array_values(array_filter(array_column($this->queue('chains')->list(State::Delayed), 'payload'), is_string(...))));
    }

    public function testAChainOfOneLinkRunsAndLeavesNothing(): void
    {
        $this->chain('one', [])->onFailure(['payload' => 'failed'])->push($this->queue());

        $this->assertSame(['one'], $this->work());
        $this->assertNoChains();
    }

    public function testPushCalledAgainKeepsTheChain(): void
    {
        $chain = $this->chain('twice', [], [], []);
        $this->assertSame('twice', $chain->push($this->queue()));
        $this->assertSame('twice', $chain->push($this->queue()));
        $this->queue()->drain(new Follow(fn () => null), 1);
        $chain->push($this->queue());

        $this->assertSame(['twice/2', 'twice/3'], $this->work());
        $this->assertNoChains();
    }

    public function testPushCalledAgainAfterACrashPushesTheFirstLink(): void
    {
        $chain = $this->chain('crash', [], []);
        $chain->push($this->queue());
        $first = $this->queue('chains')->peek('crash/2');
        $this->assertNull($this->queue('chains')->peek('crash/1'));
        // As if the process had died between the two.
        $this->queue()->cancel('crash');
        $headers = ['dq-chain' => $this->mark('crash', '1/2'), 'dq-chain-to' => $first->headers['dq-chain-to']];
        $this->queue('chains')->push(1, id: 'crash/1', delay: '3650d', headers: $headers);
        $chain->push($this->queue());

        $this->assertSame(['crash', 'crash/2'], $this->work());
        $this->assertNoChains();
    }

    public function testAChainThatHasEndedMayBePushedAgain(): void
    {
        foreach ([1, 2] as $time) {
            $this->chain('nightly', [], [])->push($this->queue());
            $this->assertSame(['nightly', 'nightly/2'], $this->work(), "time $time");
        }
    }

    public function testACopyThatWasLeftBehindIsReplaced(): void
    {
        $this->queue('chains')->push('old', id: 'c/2', delay: '3650d', headers: ['dq-chain' => '2/2 0a1b2c3d']);
        $this->chain('c', [], ['payload' => 'new'])->push($this->queue());
        $this->queue()->drain(new Follow(static fn () => null), 1);

        $this->assertSame('new', $this->queue()->peek('c/2')->payload);
    }

    public function testTheCapacityOfAQueueIsNotThatOfChains(): void
    {
        $this->chain('c', [], [], [])->push($this->queue('links', ['capacity' => 1]));
        $this->assertSame(['c', 'c/2', 'c/3'], $this->work());
    }

    public function testTheFirstJobOfAnEarlierRunIsNotTakenForThatOfANewOne(): void
    {
        $chain = $this->chain('c', [], []);
        $chain->push($this->queue());
        // Handled, and not acknowledged yet.
        $job = $this->queue()->reserve();
        (new Follow(static fn () => null))($job, $this->queue());
        $this->assertSame(['c/2'], $this->work());
        try {
            $chain->push($this->queue());
            $this->fail('the first job is still there');
        } catch (DuplicateJobException) {
            $this->assertNoChains();
        }

        $job->ack();
        $chain->push($this->queue());
        $this->assertSame(['c', 'c/2'], $this->work());
    }

    public function testTheLastJobOfAnEarlierRunDoesNotEndANewOne(): void
    {
        $chain = $this->chain('c', [], ['ttr' => 1]);
        $chain->push($this->queue());
        $this->queue()->drain(new Follow(static fn () => null), 1);
        (new Follow(static fn () => null))($this->queue()->reserve(), $this->queue());
        $this->assertNoChains();
        $chain->push($this->queue());
        $this->travel('2s');

        $this->assertSame(['c/2', 'c', 'c/2'], $this->work());
        $this->assertNoChains();
    }

    public function testAJobOfAnEarlierRunPushesNothingOfANewOne(): void
    {
        $chain = $this->chain('c', [], ['ttr' => 1], [])->onFailure(['payload' => 'failed']);
        $chain->push($this->queue());
        $this->queue()->drain(new Follow(static fn () => null), 1);
        $job = $this->queue()->reserve();
        $this->assertSame('c/2', $job->id);
        Chain::cancel($this->queue(), 'c');
        $chain->push($this->queue());

        (new ChainStep($job->headers['dq-chain'], 'c/2'))->buried($job, $this->queue(), 'late');
        $this->assertNull($this->queue()->peek('c/failed'));
        (new Follow(static fn () => null))($job, $this->queue());
        $this->assertNull($this->queue()->peek('c/3'));
        $job->ack();
        $this->assertSame(['c', 'c/2', 'c/3'], $this->work());
        $this->assertNoChains();
    }

    public function testAnIdOfAnotherJobIsADuplicate(): void
    {
        $this->queue()->push('other', id: 'taken');
        try {
            $this->chain('taken', [], [])->push($this->queue());
            $this->fail('the id is taken');
        } catch (DuplicateJobException $error) {
            $this->assertStringContainsString("'taken'", $error->getMessage());
        }

        $this->assertNoChains();
        $this->assertSame('other', $this->queue()->peek('taken')->payload);
    }

    public function testChainsWhoseIdsLookLikeLinksDoNotMeet(): void
    {
        $this->chain('a', [], ['queue' => 'other'], [])->push($this->queue());
        $this->chain('a/2', [], [])->push($this->queue());

        $this->assertSame(['a', 'a/2', 'a/2/2'], $this->work());
        $this->assertSame(['a/2', 'a/3'], $this->work(null, 'links', 'other'));
        $this->assertNoChains();
    }

    /** @dataProvider badChains */
    #[\PHPUnit\Framework\Attributes\DataProvider('badChains')]
    public function testABadChainIsRefusedBeforeAnythingIsSent(string $words, callable $push): void
    {
        try {
            $push($this->queue());
            $this->fail('it is refused');
        } catch (ValueError | TypeError $error) {
            $this->assertStringContainsString($words, $error->getMessage());
            $this->assertStringStartsWith(Chain::class . '::', $error->getMessage());
        }
        $this->assertSame([], $this->queue()->queues());
    }

    /** @return array<string, array{string, callable}> */
    public static function badChains(): array
    {
        $large = str_repeat('x', 1_000_000);
        $two = static fn (array $second) => static fn ($queue) => Chain::of(['payload' => 1], $second)->push($queue);

        return [
            'no link' => ['must have 1 to 199 links, 0 given', static fn () => Chain::of()],
            'too many' => ['must have 1 to 199 links, 200 given', static fn () => Chain::of(...array_fill(0, 200, ['payload' => 1]))],
            'id' => ['Argument #2 must not have the key "id"', $two(['payload' => 1, 'id' => 'x'])],
            'unique' => ['Argument #2 must not have the key "unique"', $two(['payload' => 1, 'unique' => '1h'])],
            'no payload' => ['Argument #2: "payload" must be given', $two(['delay' => 1])],
            'delay' => ['link 2: "delay" must', $two(['payload' => 1, 'delay' => 'soon'])],
            'queue' => ['link 2: "queue" must', $two(['payload' => 1, 'queue' => 'a b'])],
            'queue of chains' => ["link 2: \"queue\" must not be 'chains'", $two(['payload' => 1, 'queue' => 'chains'])],
            'queue of batches' => ["link 2: \"queue\" must not be 'batches'", $two(['payload' => 1, 'queue' => 'batches'])],
            'type of queue' => ['link 2: "queue" must be of type', $two(['payload' => 1, 'queue' => 5])],
            'payload' => ['link 2: ', $two(['payload' => str_repeat('x', 1 << 20)])],
            'headers' => [
                'link 2: "headers" must have at most 60 headers, with 3584 bytes',
                $two(['payload' => 1, 'headers' => ['x' => substr($large, -3584)]]),
            ],
            'number of headers' => ['link 2: "headers" must have at most 60', $two(['payload' => 1, 'headers' => array_fill(0, 61, '')])],
            'our header' => ['must not have dq-result', $two(['payload' => 1, 'headers' => ['dq-result' => '1']])],
            'long id' => [
                'link 1: "id" must be at most 193 bytes long',
                static fn ($queue) => Chain::of(['payload' => 1, 'id' => str_repeat('x', 194)])->push($queue),
            ],
            'all payloads' => ['8000000 bytes together', static fn ($queue) => Chain::of(...array_fill(0, 9, ['payload' => $large]))->push($queue)],
            'failure' => [
                'the job of onFailure(): "ttr" must',
                static fn ($queue) => Chain::of(['payload' => 1])->onFailure(['payload' => 1, 'ttr' => '31d'])->push($queue),
            ],
            'id of failure' => [
                'Argument #1 ($job) must not have the key "id"',
                static fn () => Chain::of(['payload' => 1])->onFailure(['payload' => 1, 'id' => 'x']),
            ],
        ];
    }

    public function testALongIdWithTheLargestHeadersAndResultFits(): void
    {
        $id = str_repeat('x', 193);
        $queue = str_repeat('q', 200);
        $link = ['headers' => ['x' => str_repeat('y', 3583)], 'queue' => $queue, 'delay' => new DateTimeImmutable('2020-01-01 12:00:00.123456')];
        $this->chain($id, ['queue' => $queue], $link)->onFailure(['payload' => 'failed'] + $link)->push($this->queue());

        $result = str_repeat('r', 4094);
        $ran = $this->work(static fn ($job) => $job->attempts < 9 && $job->id !== $id ? throw new Bury(str_repeat('"ü', 999)) : $result, $queue);

        $this->assertSame([$id, "$id/2", "$id/failed"], $ran);
        $this->assertSame("$id/failed", $this->queue($queue)->peek("$id/failed")?->id, 'which is buried by this handler');
    }
}
