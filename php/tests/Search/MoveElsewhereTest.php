<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Search;

use DelayQueue;
use DelayQueue\QueueInterface;
use DelayQueue\SealException;
use DelayQueue\Search\Search;
use DelayQueue\State;
use DelayQueue\Tests\OnAnyStore;
use PHPUnit\Framework\TestCase;
use ValueError;

/** Moves to other servers and partitions, and of sealed jobs. */
final class MoveElsewhereTest extends TestCase
{
    use OnAnyStore;

    private const KEYS = ['a' => 'base64:uAYHN4LqN2C9RkgV8TRYvRYyG2oQmVqTcfD9AzR2w3E='];

    private const OTHER_KEYS = ['b' => 'base64:vAYHN4LqN2C9RkgV8TRYvRYyG2oQmVqTcfD9AzR2w3E='];

    public function testJobsMoveToAQueueOfTheSameNameElsewhere(): void
    {
        $queue = $this->delayQueue('orders');
        $places = [
            'another prefix' => $this->delayQueue('orders', ['prefix' => 'other']),
            'more partitions' => $this->delayQueue('orders', ['prefix' => 'third', 'partitions' => 4]),
            'another store' => new DelayQueue('orders', 'memory://elsewhere'),
            'and back' => $queue,
        ];
        $queue->push(1, delay: 60, id: 'delayed');
        $queue->push(['a' => 'é'], id: 'ready');
        $queue->push(3, id: 'buried');
        $queue->reserveJob('buried')->bury('why');
        $from = $queue;
        foreach ($places as $name => $to) {
            $this->assertSame(3, Search::in($from)->moveTo($to), $name);
            $this->assertSame([0, []], [count($from), $to->receipts()]);
            $from = $to;
        }
        foreach (State::cases() as $state) {
            $this->assertSame($state === State::Reserved ? null : $state, $queue->peek($state->value)?->state);
        }
        $this->assertSame([['a' => 'é'], 'why'], [$queue->peek('ready')->payload, $queue->peek('buried')->lastError]);
    }

    public function testAQueueIsNotItsOwnTargetUnderAnyAddress(): void
    {
        $queue = $this->delayQueue('orders');
        $queue->push(1, id: 'a');
        $again = new DelayQueue('orders', null, ['persistent' => false]);
        try {
            Search::in($queue)->moveTo($again);
            $this->fail('moved onto itself');
        } catch (ValueError $error) {
            $this->assertStringContainsString('moveTo(): Argument #1 ($target) must be another queue', $error->getMessage());
        }
        $this->assertSame([0, []], [$queue->peek('a')->attempts, $queue->receipts()]);
    }

    public function testSealedJobsMoveBetweenQueuesThatHaveTheirKeys(): void
    {
        $queue = $this->delayQueue('orders', ['keys' => self::KEYS]);
        $queue->push(['secret' => 1], id: 'a', headers: ['trace' => 'x']);
        $queue->push(['secret' => 2], id: 'b');
        $queue->reserveJob('b')->bury('why');
        $other = $this->delayQueue('other', ['keys' => self::OTHER_KEYS]);
        $this->assertSame(2, Search::in($queue)->payload('secret')->moveTo($other));
        $this->assertSame([['secret' => 1], ['trace' => 'x'], 'b'], [$other->peek('a')->payload, $other->peek('a')->headers, $other->peek('a')->seal['key']]);
        $this->assertSame(State::Buried, $other->peek('b')->state);
    }

    /** @dataProvider queuesWithoutKeys */
    #[\PHPUnit\Framework\Attributes\DataProvider('queuesWithoutKeys')]
    public function testAQueueThatLacksKeysIsAnErrorAndNothingIsDone(
        bool $fromHasKeys,
        bool $toHasKeys,
        bool $isSealedHere,
        bool $isSealedThere,
        string $who,
    ): void {
        $keys = ['keys' => self::KEYS];
        $this->delayQueue('orders', $isSealedHere ? $keys : [])->push(1, id: 'a');
        $isSealedThere && $this->delayQueue('other', $keys)->push(1, id: 'b');
        [$from, $to] = [$this->delayQueue('orders', $fromHasKeys ? $keys : []), $this->delayQueue('other', $toHasKeys ? $keys : [])];
        try {
            Search::in($from)->moveTo($to);
            $this->fail('moved');
        } catch (SealException $error) {
            $this->assertStringStartsWith("queue $who needs keys", $error->getMessage());
        }
        $this->assertSame([State::Ready, 0, []], [$from->peek('a')->state, $from->peek('a')->attempts, $to->receipts()]);
        $this->assertNull($to->peek('a'));
    }

    /** @return iterable<string, array{bool, bool, bool, bool, string}> */
    public static function queuesWithoutKeys(): iterable
    {
        yield 'sealed here, no keys here' => [false, true, true, false, 'orders'];
        yield 'sealed here, no keys there' => [true, false, true, false, 'other'];
        yield 'sealed there, no keys there' => [false, false, false, true, 'other'];
    }

    public function testWordsAboutSealedJobsNeedTheKeys(): void
    {
        $sealed = $this->delayQueue('orders', ['keys' => self::KEYS]);
        $sealed->push(['order' => 4711], id: 'a', headers: ['shop' => 'de']);
        $without = $this->delayQueue('orders');
        $this->assertSame([1, 1], [Search::in($sealed)->header('shop', 'de')->count(), Search::in($without)->count()]);
        $searches = [Search::in($without)->payload('4711'), Search::in($without)->header('shop', 'de'), Search::in($without)->tag('x')];
        foreach ($searches as $search) {
            try {
                $search->cancel();
                $this->fail('no error');
            } catch (SealException $error) {
                $this->assertSame("queue orders needs keys: job 'a' is sealed", $error->getMessage());
            }
        }
        $this->assertCount(1, $sealed);
        $this->assertSame(0, Search::in($this->delayQueue('orders', ['keys' => self::OTHER_KEYS]))->payload('4711')->cancel(), 'it cannot be opened');
    }

    public function testATargetThatRefusesLeavesTheJobAsItWas(): void
    {
        $queue = $this->delayQueue('orders');
        $queue->push(1, delay: 60, id: 'a');
        $before = $queue->peek('a');
        $refusing = $this->createStub(QueueInterface::class);
        foreach (['name' => 'other', 'receipts' => [], 'peek' => null, 'peekReady' => null] as $method => $answer) {
            $refusing->method($method)->willReturn($answer);
        }
        $refusing->method('prepare')->willReturn($queue->prepare(''));
        $refusing->method('sibling')->willReturn($refusing);
        $refusing->method('pushOnce')->willThrowException(new DelayQueue\ServerException('OOM'));
        try {
            Search::in($queue)->moveTo($refusing);
            $this->fail('no error');
        } catch (DelayQueue\ServerException $error) {
            $this->assertSame('OOM', $error->getMessage());
        }
        $after = $queue->peek('a');
        $this->assertSame([State::Delayed, $before->dueAt, 0], [$after->state, $after->dueAt, $after->attempts]);
    }
}
