<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Flow;

use ArrayObject;
use DateTimeImmutable;
use DelayQueue\Backoff;
use DelayQueue\Bury;
use DelayQueue\Flow\Chain;
use DelayQueue\Flow\Follow;
use DelayQueue\JobInfo;
use DelayQueue\JobInterface;
use DelayQueue\NewJob;
use DelayQueue\OnExpiry;
use DelayQueue\State;
use RuntimeException;

/** How one link follows another. */
final class ChainFollowTest extends ChainCase
{
    public function testLinksRunInTheirOrderInTheirQueues(): void
    {
        $this->chain('c', [], ['queue' => 'a'], [], ['queue' => 'b'])->push($this->queue());

        $this->assertSame(['c', 'c/2', 'c/3', 'c/4'], $this->work(null, 'b', 'a', 'links'));
        $this->assertNoChains();
        $this->assertSame(0, $this->queue('links')->count() + $this->queue('a')->count() + $this->queue('b')->count());
    }

    public function testALinkFollowsWhenTheOneBeforeIsDone(): void
    {
        $this->chain('c', [], ['delay' => '10m'], [])->push($this->queue());
        $this->travel('1h');

        $this->assertSame(['c'], $this->work());
        $this->assertEqualsWithDelta($this->queue()->now() + 600, $this->queue()->peek('c/2')->dueAt, 5);
        $this->travel('10m');
        $this->assertSame(['c/2', 'c/3'], $this->work());
    }

    public function testAllOptionsOfALinkReachItsJob(): void
    {
        $link = [
            'payload' => ['x' => "\u{fc}\0/"],
            'delay' => '90s',
            'priority' => 7,
            'ttr' => 33.5,
            'maxAttempts' => 3,
            'backoff' => Backoff::stages('1s 2s'),
            'timeout' => '12s',
            'headers' => ['tenant' => 'acme', '5' => 'five'],
            'expires' => '2h',
            'onExpiry' => OnExpiry::Drop,
            'group' => "g\xff",
        ];
        $this->queue('plain')->push(...['id' => 'c/2'] + $link);
        $this->chain('c', [], $link)->push($this->queue());
        $this->work();

        $expected = $this->queue('plain')->peek('c/2');
        $job = $this->queue()->peek('c/2');
        foreach (['payload', 'body', 'priority', 'ttr', 'maxAttempts', 'timeout', 'group', 'attempts', 'extras'] as $property) {
            $this->assertSame($expected->$property, $job->$property, $property);
        }
        $this->assertSame((string) $expected->backoff, (string) $job->backoff);
        $this->assertEquals(['dq-chain' => $this->mark('c', '2/2'), 'tenant' => 'acme', '5' => 'five'], $job->headers);
        $this->assertEqualsWithDelta($job->dueAt + 7200, $job->expiresAt, 0.01);
        $this->travel('3h');
        $this->assertSame([], $this->work());
        $this->assertNull($this->queue()->peek('c/2'), 'it expired, and is dropped');
    }

    public function testMomentsOfALinkStayWhatTheyAre(): void
    {
        $at = new DateTimeImmutable('@' . ((int) $this->queue()->now() + 7200));
        $this->chain('c', [], ['delay' => $at, 'retryUntil' => $at->modify('+1 hour')])->push($this->queue());
        $this->travel('1h');
        $this->work();

        $job = $this->queue()->peek('c/2');
        $this->assertSame((float) $at->getTimestamp(), $job->dueAt);
        $this->assertSame((float) $at->getTimestamp() + 3600, $job->retryUntil);
    }

    public function testPayloadsAreBytesInAQueueOfTheFormatRaw(): void
    {
        $raw = $this->queue('bytes', ['format' => 'raw']);
        $this->chain('c', ['payload' => "\xff\0"], ['payload' => "\xfe\0"])->push($raw);
        $seen = new ArrayObject();
        $raw->drain(new Follow(static fn (JobInterface $job) => $seen[] = bin2hex($job->payload)));

        $this->assertSame(['ff00', 'fe00'], $seen->getArrayCopy());
    }

    public function testTheDefaultsOfAnotherQueueObjectCount(): void
    {
        $other = $this->queue('other', ['ttr' => 5, 'maxAttempts' => 2]);
        $this->chain('c', [], ['queue' => $other], ['queue' => 'other'])->push($this->queue('links', ['ttr' => 6]));
        $this->work();
        $this->assertSame([5.0, 2], [$other->peek('c/2')->ttr, $other->peek('c/2')->maxAttempts]);
        $this->work(null, 'other');
        $this->assertNoChains();
    }

    /** @dataProvider results */
    #[\PHPUnit\Framework\Attributes\DataProvider('results')]
    public function testTheResultOfALinkReachesTheNextOne(mixed $result): void
    {
        $seen = new ArrayObject();
        $this->chain('c', [], [], [])->push($this->queue());
        $this->work(static function (JobInterface $job) use ($seen, $result): mixed {
            $seen[] = Chain::result($job);

            return $job->id === 'c' ? $result : null;
        });

        $this->assertSame([null, $result, null], $seen->getArrayCopy());
    }

    /** @return list<array{mixed}> */
    public static function results(): array
    {
        return [[null], [0], [2.0], [''], [['a' => [1, "\u{fc}/"]]], [true], [str_repeat('x', 4094)]];
    }

    /** @dataProvider badResults */
    #[\PHPUnit\Framework\Attributes\DataProvider('badResults')]
    public function testABadResultFailsItsLink(mixed $result, string $error): void
    {
        $this->chain('c', ['maxAttempts' => 1], [])->push($this->queue());
        $this->assertSame(['c'], $this->work(static fn () => $result));

        $job = $this->queue()->peek('c');
        $this->assertSame(State::Buried, $job->state);
        $this->assertStringContainsString($error, $job->lastError);
        $this->assertNull($this->queue()->peek('c/2'));
    }

    /** @return list<array{mixed, string}> */
    public static function badResults(): array
    {
        return [
            [str_repeat('x', 4095), "the result of link 1 of the chain 'c' has 4097 bytes of JSON; at most 4096 may go to the next one"],
            ["\xff", "the result of link 1 of the chain 'c' is nothing that json_encode() accepts: "],
            [NAN, "the result of link 1 of the chain 'c' is nothing that json_encode() accepts: "],
        ];
    }

    public function testTheResultOfTheLastLinkMayBeAnything(): void
    {
        $this->chain('c', [])->push($this->queue());
        $this->work(static fn () => NAN);
        $this->assertNoChains();
        $this->assertSame(0, $this->queue()->count());
    }

    public function testABuriedLinkStopsTheChainAndAKickGoesOn(): void
    {
        $this->chain('c', [], [], [])->push($this->queue());
        $fails = true;
        $handler = static function (JobInterface $job) use (&$fails): void {
            if ($fails && $job->id === 'c/2') {
                throw new Bury('no');
            }
        };
        $this->assertSame(['c', 'c/2'], $this->work($handler));
        $this->assertSame(State::Buried, $this->queue()->peek('c/2')->state);

        $fails = false;
        $this->queue()->kick();
        $this->assertSame(['c/2', 'c/3'], $this->work($handler));
        $this->assertNoChains();
    }

    public function testALinkThatIsTriedAgainIsFollowedOnce(): void
    {
        $this->chain('c', ['backoff' => Backoff::fixed(0)], [])->push($this->queue());
        $this->assertSame(['c', 'c', 'c/2'], $this->work(static fn (JobInterface $job) => $job->attempts > 1 || $job->id !== 'c' ? null : throw new RuntimeException('no')));
        $this->assertNoChains();
    }

    public function testALinkAndTheJobOfOnFailureHaveAllThatTheirNewJobSays(): void
    {
        $job = new NewJob(
            ['a' => 1.0],
            delay: 60,
            priority: 7,
            ttr: 9,
            maxAttempts: 3,
            backoff: Backoff::fixed(2),
            timeout: 4,
            headers: ['x' => 'y'],
            retryUntil: '1d',
            group: 'g',
        );
        $direct = $this->queue('direct');
        $there = $direct->peek($direct->tryPush($job) ?? '');
        Chain::of(new NewJob(1, id: 'c'), $job, ['queue' => 'elsewhere'] + (array) $job)->onFailure($job)->push($this->queue());
        $this->work(static fn () => null);
        $this->assertSameOptions($there, $this->queue()->peek('c/2'));
        $this->queue()->reschedule('c/2', 0);
        $this->work(static fn () => throw new Bury('no'));
        $this->assertSameOptions($there, $this->queue()->peek('c/failed'));
        $this->queue()->kick();
        $this->work(static fn () => null);
        $this->assertSameOptions($there, $this->queue('elsewhere')->peek('c/3'));
    }

    private function assertSameOptions(?JobInfo $expected, ?JobInfo $actual): void
    {
        $own = ['id', 'queue', 'createdAt', 'dueAt', 'headers', 'retryUntil', 'waitsFor', 'earliestAt', 'ahead', 'heldUpBy'];
        $said = static fn (?JobInfo $job): array => array_diff_key(get_object_vars($job), array_flip($own));
        $this->assertEquals($said($expected), $said($actual));
        $this->assertEqualsWithDelta(60, $actual->dueAt - $actual->createdAt, 5);
        $this->assertEqualsWithDelta(86400, $actual->retryUntil - $actual->dueAt, 0.001);
        $this->assertSame('y', $actual->headers['x']);
    }

    public function testOnFailureIsPushedOnceAndTold(): void
    {
        $this->chain('c', [], [])->onFailure(['payload' => 'failed', 'queue' => 'failures', 'headers' => ['x' => 'y']])->push($this->queue());
        $handler = static fn (JobInterface $job) => $job->id === 'c/2' ? throw new Bury("no\nway") : null;
        $this->work($handler);
        $this->queue()->kick();
        $this->work($handler);

        $told = $this->queue('failures')->reserve();
        $this->assertSame(['c/failed', 'failed', 'y'], [$told->id, $told->payload, $told->headers['x']]);
        $this->assertSame(['link' => 2, 'of' => 2, 'id' => 'c/2', 'queue' => 'links', 'error' => 'no way'], Chain::failure($told));
        $told->ack();
        $this->queue()->kick();
        $this->work($handler);
        $this->assertSame(0, $this->queue('failures')->count());
        $this->queue()->kick();
        $this->work();
        $this->assertNoChains();
    }

    public function testAChainThatEndsWellForgetsItsOnFailure(): void
    {
        $this->chain('c', [], [])->onFailure(['payload' => 'failed'])->push($this->queue());
        $this->assertSame(['c', 'c/2'], $this->work());
        $this->assertNoChains();
    }

    public function testARepeatedLinkPushesNothingTwice(): void
    {
        $this->chain('c', ['ttr' => 1], [], [])->push($this->queue());
        $queue = $this->queue();
        $job = $queue->reserve();
        $follow = new Follow(static fn () => null);
        // The worker dies when it has pushed the second link, and the others run.
        $follow($job, $queue);
        $this->assertSame(['c/2', 'c/3'], $this->work());
        $this->travel('2s');
        $this->assertSame(['c'], $this->work());
        $this->assertNoChains();
        $this->assertSame(0, $queue->count());
    }

    public function testALinkPushedByAWorkerThatDiedBeforeItCancelledTheCopyRunsOnce(): void
    {
        $this->chain('c', ['ttr' => 1], [], [])->push($this->queue());
        $queue = $this->queue();
        $chains = $this->queue('chains', ['format' => 'raw']);
        $copy = $chains->peek('c/2');
        $queue->reserve();
        $queue->push(2, id: 'c/2', headers: ['dq-chain' => $this->mark('c', '2/3')]);
        $this->assertNotNull($copy);

        $this->assertSame(['c/2', 'c/3'], $this->work());
        $this->assertNull($chains->peek('c/2'), 'the second link has cancelled its copy');
        $this->travel('2s');
        $this->assertSame(['c'], $this->work());
        $this->assertNoChains();
    }

    public function testTheLastLinkLeavesNothingWhenTheWorkerBeforeItDied(): void
    {
        $this->chain('c', ['ttr' => 1], [])->push($this->queue());
        $this->queue()->reserve();
        $this->queue()->push(2, id: 'c/2', headers: ['dq-chain' => $this->mark('c', '2/2')]);

        $this->assertSame(['c/2'], $this->work());
        $this->assertNoChains();
        $this->travel('2s');
        $this->assertSame(['c'], $this->work());
        $this->assertSame(0, $this->queue()->count());
    }

    public function testALinkOfAnotherJobsIdFailsTheOneBefore(): void
    {
        $this->chain('c', ['maxAttempts' => 1], [])->push($this->queue());
        $this->queue()->push('other', id: 'c/2', delay: '1h');
        $this->work();

        $this->assertStringContainsString("job 'c/2' is already in queue 'links'", $this->queue()->peek('c')->lastError);
        $this->assertSame('other', $this->queue()->peek('c/2')->payload);
    }

    public function testALinkWhoseNextQueueIsFullIsReleased(): void
    {
        $this->chain('c', [], [])->push($this->queue());
        $full = $this->queue('links', ['capacity' => 1]);
        $full->drain(new Follow(static fn () => null));

        $job = $this->queue()->peek('c');
        $this->assertSame([State::Delayed, 0], [$job->state, $job->attempts], 'it only waits');
        $this->assertStringContainsString('what follows could not be pushed', $job->lastError);
        $this->travel('5s');
        $this->assertSame(['c', 'c/2'], $this->work());
        $this->assertNoChains();
    }
}
