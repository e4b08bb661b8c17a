<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Flow;

use Closure;
use DelayQueue\ConnectionException;
use DelayQueue\Flow\Batch;
use DelayQueue\Flow\BatchClosed;
use DelayQueue\Flow\BatchHeld;
use DelayQueue\Flow\Follow;
use DelayQueue\JobInterface;
use DelayQueue\QueueInterface;
use DelayQueue\Release;
use DelayQueue\Testing;
use DelayQueue\Testing\InteractsWithMemoryQueue;
use PHPUnit\Framework\TestCase;
use ValueError;

/** A process dies, or stands still for longer than it may hold a batch, at each of its requests in turn. */
final class BatchMomentsTest extends TestCase
{
    use InteractsWithMemoryQueue;

    private const THEN = ['payload' => 'all', 'queue' => 'reports'];

    /** @var list<string> ids of jobs in the order in which they ran */
    private array $ran = [];

    public function testAStartThatDiesAnywhereIsCompletedByTheNext(): void
    {
        foreach ([false, true] as $workersAreQuick) {
            $this->dyingEverywhere(
                fn (QueueInterface $queue) => $this->start($queue, 'row-1', 'row-2', 'row-3'),
                function (QueueInterface $queue, string $when) use ($workersAreQuick): void {
                    $workersAreQuick && $this->work($queue);
                    $this->restart($queue, 'row-1', 'row-2', 'row-3');
                    $this->work($queue);
                    $this->assertSame(['row-1', 'row-2', 'row-3', 'batch/then'], $this->ran, $when);
                },
            );
        }
    }

    public function testTheEndOfTheLastMemberMayBeCutOffAnywhere(): void
    {
        $this->dyingEverywhere(
            function (QueueInterface $queue): void {
                $this->endMember($queue);
            },
            function (QueueInterface $queue, string $when): void {
                $this->travel('1m');
                $this->work($queue);
                $this->assertSame(['batch/then'], array_values(array_diff($this->ran, ['row-1'])), $when);
            },
            fn (QueueInterface $queue) => $this->start($queue, 'row-1'),
        );
    }

    public function testAnAddThatDiesAnywhereIsCompletedByTheNextOrRefused(): void
    {
        $this->dyingEverywhere(
            fn (QueueInterface $queue) => Batch::of($queue, 'batch')->add([self::member('more-1'), self::member('more-2')]),
            function (QueueInterface $queue, string $when): void {
                $this->work($queue);
                $isOver = in_array('batch/then', $this->ran, true);
                try {
                    Batch::of($queue, 'batch')->add([self::member('more-1'), self::member('more-2')]);
                    $this->assertFalse($isOver, $when);
                } catch (BatchClosed) {
                    $this->assertTrue($isOver, $when);
                }
                $this->work($queue);
                $expected = in_array('more-1', $this->ran, true) ? ['row-1', 'more-1', 'more-2', 'batch/then'] : ['row-1', 'batch/then'];
                $this->assertSame($expected, $this->ran, $when);
            },
            fn (QueueInterface $queue) => $this->start($queue, 'row-1'),
        );
    }

    public function testACancelThatDiesAnywhereIsCompletedByTheNextAndNothingFollows(): void
    {
        $this->dyingEverywhere(
            fn (QueueInterface $queue) => Batch::of($queue, 'batch')->cancel(),
            function (QueueInterface $queue, string $when) use (&$running): void {
                Batch::of($queue, 'batch')->done($running);
                Batch::of($queue, 'batch')->cancel();
                $this->work($queue);
                $this->assertSame([], array_values(array_diff($this->ran, ['row-1'])), $when);
            },
            function (QueueInterface $queue) use (&$running): void {
                $this->start($queue, 'row-1', 'row-2');
                $running = $queue->sibling('rows')->reserve();
            },
        );
    }

    public function testAMemberThatIsAddedWhileTheLastOneEndsComesBeforeThenOrIsRefused(): void
    {
        $this->standingStillEverywhere(
            $this->endMember(...),
            function (QueueInterface $queue): void {
                try {
                    Batch::of($queue, 'batch')->add([self::member('more-1', 'others')]);
                    $this->ran[] = 'added';
                } catch (BatchClosed) {
                    $this->ran[] = 'refused';
                }
            },
            fn (QueueInterface $queue) => $this->start($queue, 'row-1'),
        );
    }

    public function testAnAddThatStandsStillWhileTheLastMemberEndsAddsBeforeThenOrNotAtAll(): void
    {
        $this->standingStillEverywhere(
            $this->addPatiently(...),
            fn (QueueInterface $queue) => $queue->sibling('rows')->drain(new Follow($this->record(...))),
            fn (QueueInterface $queue) => $this->start($queue, 'row-1'),
        );
    }

    public function testAnAddThatStandsStillPushesNoMemberThatIsDoneMeanwhile(): void
    {
        $this->standingStillEverywhere(
            $this->addPatiently(...),
            fn (QueueInterface $queue) => $queue->sibling('others')->drain(new Follow($this->record(...))),
            function (QueueInterface $queue): void {
                $this->start($queue, 'row-1');
                Batch::of($queue, 'batch')->add([self::member('more-1', 'others')]);
            },
        );
    }

    public function testAStartThatStandsStillWhileAnotherDoesItAllChangesNothing(): void
    {
        $this->standingStillEverywhere(
            fn (QueueInterface $queue) => $this->restart($queue, 'row-1', 'row-2'),
            function (QueueInterface $queue): void {
                $this->restart($queue, 'row-1', 'row-2');
                $this->work($queue);
            },
        );
    }

    public function testAStartThatStandsStillWhileAnotherCancelsLeavesNoMarkers(): void
    {
        $this->standingStillEverywhere(
            function (QueueInterface $queue): void {
                try {
                    $this->restart($queue, 'row-1', 'row-2');
                    $this->ran[] = 'started';
                } catch (ValueError) {
                }
            },
            fn (QueueInterface $queue) => Batch::of($queue, 'batch')->cancel(),
            mayBeCancelled: true,
        );
    }

    public function testAStartThatStoodStillPushesOnePageAgainAtMost(): void
    {
        $queue = $this->delayQueue('main');
        $members = array_map(static fn (int $n): array => self::member("row-$n"), range(1, 1500));
        $start = static fn (QueueInterface $queue) => Batch::start($queue, 'batch', $members, self::THEN);
        $pushes = 0;
        $hook = function (bool $isOver, string $method) use (&$pushes, $queue, $start): void {
            // Three are of markers.
            if (!$isOver && $method === 'pushMany' && ++$pushes === 4) {
                $this->travel('6s');
                $start($queue);
                $this->work($queue);
            }
        };
        try {
            $start(HookedQueue::of($queue, $hook));
            $this->fail('another process has taken over');
        } catch (BatchHeld) {
            $this->assertCount(500, $queue->sibling('rows'));
        }
    }

    public function testTheRequestsAreThoseThatTheDocumentsName(): void
    {
        $queue = $this->delayQueue('main');
        $requests = 0;
        $counted = HookedQueue::of($queue, static function (bool $isOver) use (&$requests): void {
            $requests += $isOver ? 0 : 1;
        });
        $count = static function (Closure $call) use (&$requests): int {
            $requests = 0;
            $call();

            return $requests;
        };
        $this->assertSame(9, $count(fn () => $this->start($counted, 'row-1', 'row-2')));
        $this->assertSame(8, $count(fn () => Batch::of($counted, 'batch')->add([self::member('more-1'), self::member('more-2')])));
        $this->assertSame(2, $count(fn () => Batch::of($counted, 'batch')->progress()));
        $jobs = $queue->sibling('rows')->reserveMany(4);
        foreach ([2, 2, 2, 8] as $index => $expected) {
            $this->assertSame($expected, $count(fn () => Batch::of($counted, 'batch')->done($jobs[$index])));
        }
    }

    /** Its call is cut off before, and behind, each request in turn, until it comes to its end. */
    private function dyingEverywhere(Closure $call, Closure $repeat, ?Closure $before = null): void
    {
        for ($moment = 0, $isCutOff = true; $isCutOff; $moment++) {
            $queue = $this->fresh($before);
            $isCutOff = false;
            $hook = function () use (&$requests, &$isCutOff, $moment): void {
                $requests++;
                if ($isCutOff || $requests > $moment) {
                    $isCutOff = true;
                    throw new ConnectionException('this process is dead');
                }
            };
            $requests = 0;
            try {
                $call(HookedQueue::of($queue, $hook));
            } catch (ConnectionException) {
            }
            $this->travel('6s');
            $repeat($queue, "cut off at moment $moment");
            $this->assertCount(0, $queue->sibling('batches'), "cut off at moment $moment");
            foreach (['rows', 'reports'] as $name) {
                $this->assertCount(0, $queue->sibling($name), "cut off at moment $moment");
            }
        }
        $this->assertGreaterThan(10, $moment);
    }

    /** Another process does something before, or behind, each request in turn, when the lease of the first one is over. */
    private function standingStillEverywhere(Closure $call, Closure $meanwhile, ?Closure $before = null, bool $mayBeCancelled = false): void
    {
        for ($moment = 0, $isReached = true; $isReached; $moment++) {
            $queue = $this->fresh($before);
            $isReached = false;
            $requests = 0;
            $hook = function () use (&$requests, &$isReached, $moment, $meanwhile, $queue): void {
                if (++$requests > $moment && !$isReached) {
                    $isReached = true;
                    $this->travel('6s');
                    $meanwhile($queue);
                }
            };
            try {
                $call(HookedQueue::of($queue, $hook));
            } catch (Release | BatchHeld) {
            }
            $this->travel('1m');
            $this->work($queue);
            $this->travel('1m');
            $this->work($queue);
            $seen = "standing still at moment $moment: " . implode(' ', $this->ran);
            $this->assertCount(0, $queue->sibling('batches'), $seen);
            if ($mayBeCancelled && !in_array('batch/then', $this->ran, true)) {
                continue;
            }
            $this->assertSame(1, count(array_keys($this->ran, 'batch/then', true)), $seen);
            // A start that stood still may push members again that are done. They were done before `then`, too.
            $first = array_values(array_diff(array_unique($this->ran), ['added', 'refused', 'started']));
            $this->assertSame('batch/then', end($first), $seen);
            $this->assertSame(in_array('added', $this->ran, true), in_array('more-1', $this->ran, true), $seen);
            $this->assertLessThanOrEqual(1, count(array_keys($this->ran, 'more-1', true)), $seen);
        }
        $this->assertGreaterThan(10, $moment);
    }

    private function fresh(?Closure $before): QueueInterface
    {
        Testing::forgetMemory();
        $this->ran = [];
        $queue = $this->delayQueue('main');
        $before === null || $before($queue);

        return $queue;
    }

    private function start(QueueInterface $queue, string ...$ids): void
    {
        Batch::start($queue, 'batch', array_map(static fn (string $id): array => self::member($id), $ids), self::THEN);
    }

    /** Where the batch has ended, that is said. */
    private function restart(QueueInterface $queue, string ...$ids): void
    {
        try {
            $this->start($queue, ...$ids);
        } catch (ValueError $error) {
            $this->assertStringContainsString('has ended', $error->getMessage());
        }
    }

    /** It is not acknowledged, so it comes again. */
    private function endMember(QueueInterface $queue): void
    {
        $job = $queue->sibling('rows')->reserve();
        $this->ran[] = $job->id;
        Batch::of($queue, 'batch')->done($job);
    }

    /** Again where it was taken over. */
    private function addPatiently(QueueInterface $queue): void
    {
        $add = static fn (): int => Batch::of($queue, 'batch')->add([self::member('more-1', 'others')]);
        try {
            try {
                $add();
            } catch (BatchHeld) {
                $add();
            }
            $this->ran[] = 'added';
        } catch (BatchClosed) {
            $this->ran[] = 'refused';
        }
    }

    private function work(QueueInterface $queue): void
    {
        // First what is there too early.
        foreach (['reports', 'rows', 'others', 'rows', 'reports'] as $name) {
            $queue->sibling($name)->drain(new Follow($this->record(...)));
        }
    }

    private function record(JobInterface $job): void
    {
        $this->ran[] = $job->id;
    }

    /** @return array<string, mixed> */
    private static function member(string $id, string $queue = 'rows'): array
    {
        return ['payload' => 1, 'id' => $id, 'queue' => $queue, 'ttr' => '1s'];
    }
}
