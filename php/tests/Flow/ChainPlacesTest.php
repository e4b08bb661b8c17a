<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Flow;

use DelayQueue;
use DelayQueue\Flow\Chain;
use DelayQueue\Flow\Follow;
use DelayQueue\SealException;
use DelayQueue\State;
use DelayQueue\Testing;
use ValueError;

/** Chains on queues with keys, partitions and prefixes. */
final class ChainPlacesTest extends ChainCase
{
    public function testSealedQueuesHaveSealedChains(): void
    {
        $keys = ['keys' => ['k' => str_repeat('k', 32)]];
        $queue = $this->queue('links', $keys);
        $this->chain('c', ['payload' => 'secret 1'], ['payload' => 'secret 2', 'headers' => ['h' => 'secret 3']], ['payload' => 'secret 4', 'queue' => 'other'])
            ->push($queue);
        $stored = $this->queue('chains')->list(State::Delayed);
        $this->assertCount(3, $stored);
        $this->assertStringNotContainsString('secret', serialize(array_map(static fn ($job) => [$job->body, $job->headers], $stored)));

        $seen = [];
        $queue->watch('links', 'other')->drain(new Follow(static function ($job) use (&$seen): string {
            $seen[] = [$job->payload, Chain::result($job)];

            return "done $job->id";
        }));
        $this->assertSame([['secret 1', null], ['secret 2', 'done c'], ['secret 4', 'done c/2']], $seen);
        $this->assertNoChains();
    }

    public function testChainsOfOtherKeysAreNotListed(): void
    {
        $sealed = $this->queue('links', ['keys' => ['k' => str_repeat('k', 32)]]);
        $this->chain('a/b', ...array_fill(0, 12, []))->onFailure(['payload' => 1])->push($sealed);
        $this->chain('b', ['group' => '/chains'], ['group' => '/chains'])->push($this->queue());

        $this->assertSame([['a/b'], ['b']], [[...Chain::ids($sealed)], [...Chain::ids($this->queue())]]);
        foreach (['status', 'check', 'cancel'] as $method) {
            try {
                Chain::$method($this->queue(), 'a/b');
                $this->fail("$method() needs the keys");
            } catch (SealException $error) {
                $this->assertStringContainsString("job 'a/b/0' in queue 'chains' cannot be opened", $error->getMessage());
            }
        }
    }

    public function testAWorkerWithoutTheKeysOfTheChainFailsItsLinkClearly(): void
    {
        $this->chain('c', ['maxAttempts' => 1], ['payload' => 'b'])->push($this->queue());
        $chains = $this->queue('chains', ['keys' => ['k' => str_repeat('k', 32)]]);
        $this->assertTrue($chains->reseal('c/2'));
        $this->work();

        $this->assertStringContainsString("job 'c/2' in queue 'chains' cannot be opened", $this->queue()->peek('c')->lastError);
        $this->assertStringContainsString('need the same keys', $this->queue()->peek('c')->lastError);
    }

    public function testQueuesWithAndWithoutKeysMakeNoChain(): void
    {
        $this->expectException(ValueError::class);
        $this->expectExceptionMessage("link 2: \"queue\" must have the same keys as queue 'links', or none, as that");
        $this->chain('c', [], ['queue' => $this->queue('other', ['keys' => ['k' => str_repeat('k', 32)]])])->push($this->queue());
    }

    public function testAQueueOfAnotherRedisOrPrefixMakesNoChain(): void
    {
        foreach ([new DelayQueue('other', 'redis://127.0.0.1:1'), $this->queue('other', ['prefix' => 'p']), new DelayQueue('other', 'memory://other')] as $other) {
            try {
                $this->chain('c', [], ['queue' => $other])->push($this->queue());
                $this->fail('it is refused');
            } catch (ValueError $error) {
                $this->assertStringContainsString('link 2: "queue" must be on the same Redis and under the same prefix', $error->getMessage());
            }
        }
    }

    public function testLinksReachQueuesWithPartitions(): void
    {
        $queue = $this->queue('links', ['prefix' => 'p']);
        $spread = $this->queue('spread', ['prefix' => 'p', 'partitions' => 4]);
        foreach (range(1, 10) as $n) {
            $this->chain("c$n", ['queue' => $spread], [], ['queue' => $spread, 'group' => "g$n"], ['queue' => $spread])->push($queue);
        }
        $ran = [];
        $handler = new Follow(static function ($job) use (&$ran): void {
            $ran[] = $job->id;
        });
        do {
            $handled = $spread->drain($handler) + $queue->drain($handler);
        } while ($handled > 0);

        $expected = array_merge(...array_map(static fn (int $n): array => ["c$n", "c$n/2", "c$n/3", "c$n/4"], range(1, 10)));
        $this->assertEqualsCanonicalizing($expected, $ran);
        $this->assertSame([], [...Chain::ids($spread)]);
        $this->assertSame(0, $queue->sibling('chains')->count());
    }

    public function testAQueueWithPartitionsMakesChainsForQueuesWithoutThem(): void
    {
        $spread = $this->queue('spread', ['partitions' => 4]);
        $this->chain('c', ['queue' => $this->queue()], ['queue' => $this->queue()], ['queue' => $this->queue()])->push($spread);

        $this->assertSame(['c', 'c/2', 'c/3'], $this->work());
        $this->assertNoChains();
    }

    public function testAChainWithPartitionsIsWatchedAndCancelledFromAnyQueue(): void
    {
        $spread = $this->queue('spread', ['partitions' => 4]);
        $this->chain('c', ['queue' => $spread], ['queue' => $spread, 'delay' => '1h'], [])->push($this->queue());
        $spread->drain(new Follow(static fn () => null));

        $this->assertSame([2, State::Delayed], [Chain::check($this->queue(), 'c')->link, Chain::status($spread, 'c')->state]);
        $this->assertSame(2, Chain::cancel($this->queue(), 'c'));
        $this->assertSame(0, $spread->count());
    }

    public function testAJobWithoutAChainCostsNoRequest(): void
    {
        $nowhere = new DelayQueue('links', 'redis://127.0.0.1:1');
        $job = Testing::job('x', headers: ['other' => 'y']);
        $this->assertSame(5, (new Follow(static fn () => 5))($job, $nowhere));
    }
}
