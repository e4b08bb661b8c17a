<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Flow;

use ArrayObject;
use DelayQueue\Bury;
use DelayQueue\Event;
use DelayQueue\Flow\Chain;
use DelayQueue\Flow\Follow;
use DelayQueue\JobInterface;
use DelayQueue\LeaseLostException;
use DelayQueue\Middleware\Pipeline;
use DelayQueue\QueueInterface;
use DelayQueue\State;
use DelayQueue\Testing;
use DelayQueue\Worker\TaskRouter;
use RuntimeException;
use WeakReference;

/** When a job is followed, and what is left of that. */
final class FollowTest extends ChainCase
{
    public function testARouterFollowsByItself(): void
    {
        $seen = new ArrayObject();
        $this->chain('c', ['payload' => ['task' => 'a']], ['payload' => ['task' => 'b']])->push($this->queue());
        $this->queue()->drain(new TaskRouter([
            'a' => static fn () => ['n' => 7],
            'b' => static fn ($params, JobInterface $job) => $seen[] = Chain::result($job),
        ]));

        $this->assertSame([['n' => 7]], $seen->getArrayCopy());
        $this->assertNoChains();
    }

    public function testDueJobsOfATestAreFollowed(): void
    {
        $this->chain('c', [], [])->push($this->queue());
        $this->assertSame(2, $this->runDueJobs(static fn () => null, 'links'));
        $this->assertNoChains();
    }

    public function testARouterInAFollowFollowsOnce(): void
    {
        $pushed = new ArrayObject();
        $this->chain('c', ['payload' => ['task' => 'a']], ['payload' => ['task' => 'a'], 'delay' => '1h'])->push($this->queue());
        $router = new TaskRouter(['a' => static fn () => 'inner']);
        $this->queue()->drain(new Follow(function ($job, $queue) use ($router, $pushed): string {
            $router($job, $queue);
            $pushed[] = $this->queue()->peek('c/2');

            return 'outer';
        }));

        $this->assertSame([null], $pushed->getArrayCopy(), 'the inner one has pushed nothing');
        $this->assertSame('"outer"', $this->queue()->peek('c/2')->headers[Chain::RESULT]);
    }

    public function testMiddlewareThatEndsALinkEndsItForTheChainToo(): void
    {
        $handler = fn () => $this->fail('the middleware does not go on');
        foreach ([$handler, new Follow($handler), new TaskRouter(['a' => $handler])] as $number => $inner) {
            $this->chain("done-$number", ['payload' => ['task' => 'a']], ['delay' => '1h'])->push($this->queue());
            $this->queue()->drain(new Pipeline($inner, static fn (): string => 'kept'));
            $this->assertSame('"kept"', $this->queue()->peek("done-$number/2")->headers[Chain::RESULT]);

            $this->chain("buried-$number", ['payload' => ['task' => 'a']], [])->onFailure(['payload' => 1, 'delay' => '1h'])->push($this->queue());
            $this->queue()->drain(new Pipeline($inner, static fn () => throw new Bury('too late')));
            $this->assertSame('too late', Chain::failure($this->queue()->reserveJob("buried-$number/failed"))['error']);
        }
    }

    /** @dataProvider settlings */
    #[\PHPUnit\Framework\Attributes\DataProvider('settlings')]
    public function testAJobThatItsHandlerSettledIsFollowedWhenItIsDone(string $method, ?string $follower): void
    {
        $this->chain('c', [], ['delay' => '1h'])->onFailure(['payload' => 'failed', 'delay' => '1h'])->push($this->queue());
        $this->work(static fn (JobInterface $job) => $job->$method(...$method === 'release' ? ['1m'] : []));

        $followers = array_diff(array_column($this->queue()->list(State::Delayed), 'id'), ['c']);
        $this->assertSame($follower === null ? [] : [$follower], array_values($followers));
    }

    /** @return list<array{string, string|null}> */
    public static function settlings(): array
    {
        return [['ack', 'c/2'], ['release', null], ['fail', null], ['bury', 'c/failed']];
    }

    public function testAFailureIsNotFollowed(): void
    {
        foreach ([static fn () => false, static fn () => throw new RuntimeException('no')] as $number => $handler) {
            $this->chain("c$number", [], [])->push($this->queue());
            $this->assertSame(["c$number"], $this->work($handler));
        }
        $this->assertSame(2, $this->queue()->count(State::Delayed));
    }

    public function testALastAttemptThatFailedIsTold(): void
    {
        $this->chain('c', ['maxAttempts' => 1], [])->onFailure(['payload' => 'failed', 'queue' => 'failures'])->push($this->queue());
        $this->work(static fn () => false);
        $this->assertSame('the handler returned false', Chain::failure($this->queue('failures')->reserve())['error']);
    }

    public function testADamagedHeaderFailsTheJob(): void
    {
        foreach (['', 'x', '1/1', '2/1 0a1b2c3d', '0/1 0a1b2c3d', '2/2 0a1b2c3d', '1/1/1 0a1b2c3d'] as $number => $header) {
            $this->queue()->push('x', id: "job-$number", maxAttempts: 1, headers: [Chain::HEADER => $header]);
        }
        $before = (string) ini_set('error_log', '/dev/null');
        try {
            $this->assertSame([], $this->work(), 'no handler is called');
        } finally {
            ini_set('error_log', $before);
        }

        foreach ($this->queue()->list(State::Buried) as $job) {
            $this->assertStringContainsString("job '$job->id' is no link of a chain", $job->lastError);
        }
        $this->assertSame(7, $this->queue()->count(State::Buried));
    }

    public function testALostJobIsNotFollowed(): void
    {
        $this->chain('c', ['ttr' => 1], [])->push($this->queue());
        $queue = $this->queue();
        $job = $queue->reserve();
        (new Follow(function (JobInterface $job): void {
            $this->queue()->cancel('c');
            try {
                $job->touch();
            } catch (LeaseLostException) {
            }
        }))($job, $queue);

        $this->assertTrue($job->isLost());
        $this->assertNull($queue->peek('c/2'));
    }

    public function testAQueueIsListenedToOnce(): void
    {
        $queue = $this->createMock(QueueInterface::class);
        $queue->expects($this->once())->method('on')->with(Event::Buried)->willReturnSelf();
        foreach ([1, 2, 3] as $time) {
            $job = Testing::job(['task' => 'a'], headers: [Chain::HEADER => '1/1 0a1b2c3d']);
            try {
                (new TaskRouter(['a' => static fn () => throw new RuntimeException("time $time")]))($job, $queue);
                $this->fail('the handler fails');
            } catch (RuntimeException $error) {
                $this->assertSame("time $time", $error->getMessage());
            }
        }
    }

    public function testARouterAndAQueueAreHeldByNobody(): void
    {
        $queue = $this->queue();
        $this->chain('c', ['payload' => ['task' => 'a']], [])->push($queue);
        $router = new TaskRouter(['a' => static fn () => null]);
        $queue->drain($router, 1);
        [$routerIs, $queueIs] = [WeakReference::create($router), WeakReference::create($queue)];
        unset($router, $queue);

        $this->assertNull($routerIs->get());
        $this->assertNull($queueIs->get());
    }

    public function testAJobIsHeldByNobody(): void
    {
        $job = Testing::job('x', headers: [Chain::HEADER => '1/1 0a1b2c3d']);
        (new Follow(static fn () => null))($job, $this->queue());
        $weak = WeakReference::create($job);
        unset($job);
        $this->assertNull($weak->get());
    }

    public function testOneJobObjectIsFollowedEachTimeItIsHandled(): void
    {
        $this->chain('c', [], [])->push($this->queue());
        $job = $this->queue()->reserve();
        try {
            (new Follow(static fn () => throw new RuntimeException('first')))($job, $this->queue());
        } catch (RuntimeException) {
        }
        (new Follow(static fn () => null))($job, $this->queue());
        $this->assertNotNull($this->queue()->peek('c/2'));
    }
}
