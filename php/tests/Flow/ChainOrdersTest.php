<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Flow;

use Closure;
use DelayQueue;
use DelayQueue\Flow\Chain;
use DelayQueue\Flow\ChainLink;
use DelayQueue\Flow\Follow;
use DelayQueue\JobInterface;
use DelayQueue\LeaseLostException;
use DelayQueue\QueueInterface;
use DelayQueue\Testing;
use DelayQueue\Testing\InteractsWithMemoryQueue;
use Fiber;
use PHPUnit\Framework\TestCase;

/** Programs that die before any of their requests, or work at one chain at the same time in any order. */
final class ChainOrdersTest extends TestCase
{
    use InteractsWithMemoryQueue;

    private DelayQueue $links;

    /** @var array<string, int> how often each job was handled */
    private array $ran = [];

    public function testALinkIsHandledWhileTheChainIsChecked(): void
    {
        foreach ([0, 1, 2] as $handled) {
            $this->inEachOrder(function (Actors $actors) use ($handled): Closure {
                $this->begin($handled);
                $this->worker($actors);
                $this->checker($actors);

                return fn () => $this->assertAllRan(['c' => 1, 'c/2' => 1, 'c/3' => 1]);
            });
        }
    }

    public function testTwoLinksAreHandledWhileTheChainIsChecked(): void
    {
        foreach ([0, 1] as $handled) {
            $this->inEachOrder(function (Actors $actors) use ($handled): Closure {
                $this->begin($handled);
                $this->worker($actors, jobs: 2);
                $this->checker($actors);

                return fn () => $this->assertAllRan(['c' => 1, 'c/2' => 1, 'c/3' => 1]);
            });
        }
    }

    public function testALinkIsHandledWhileTheChainIsCancelled(): void
    {
        foreach ([0, 1, 2] as $handled) {
            $this->inEachOrder(function (Actors $actors) use ($handled): Closure {
                $this->begin($handled);
                $this->worker($actors);
                $actors->add($this->links, static fn (QueueInterface $queue) => Chain::cancel($queue, 'c'));
                $ran = array_slice(['c' => 1, 'c/2' => 1, 'c/3' => 1], 0, $handled + 1);

                return fn () => $this->assertAllRan($ran);
            });
        }
    }

    public function testALinkIsHandledByTwoWorkersBecauseALeaseEnded(): void
    {
        foreach (['c', 'c/2', 'c/3'] as $handled => $link) {
            $this->inEachOrder(function (Actors $actors) use ($handled, $link): Closure {
                $this->begin($handled);
                $this->worker($actors);
                $this->travel('2m');
                $this->worker($actors);

                return fn () => $this->assertAllRan([$link => 2] + ['c' => 1, 'c/2' => 1, 'c/3' => 1]);
            });
        }
    }

    public function testALinkIsRepeatedWhileTheNextOneIsHandled(): void
    {
        $this->inEachOrder(function (Actors $actors): Closure {
            $this->begin(0);
            $this->links->reserve();
            // The worker died when it had pushed the next link, and not yet cancelled the copy.
            $copy = $this->links->sibling('chains', ['format' => 'raw'])->peek('c/2');
            ChainLink::push($copy, 'c/2', $this->links, []);
            $this->travel('2m');
            $this->worker($actors);
            $this->worker($actors);

            return fn () => $this->assertAllRan(['c' => 1, 'c/2' => 1, 'c/3' => 1]);
        });
    }

    public function testAChainIsPushedTwice(): void
    {
        $this->inEachOrder(function (Actors $actors): Closure {
            $this->begin(null);
            $actors->add($this->links, $this->push(...));
            $actors->add($this->links, $this->push(...));

            return fn () => $this->assertAllRan(['c' => 1, 'c/2' => 1, 'c/3' => 1]);
        });
    }

    public function testAChainIsPushedWhileItIsChecked(): void
    {
        $this->inEachOrder(function (Actors $actors): Closure {
            $this->begin(null);
            $actors->add($this->links, $this->push(...));
            $actors->add($this->links, static fn (QueueInterface $queue) => Chain::check($queue, 'c'));

            return fn () => $this->assertAllRan(['c' => 1, 'c/2' => 1, 'c/3' => 1]);
        });
    }

    public function testAChainIsPushedWhileItIsCancelled(): void
    {
        $this->inEachOrder(function (Actors $actors): Closure {
            $this->begin(null);
            $actors->add($this->links, $this->push(...));
            $cancelled = null;
            $actors->add($this->links, static function (QueueInterface $queue) use (&$cancelled): void {
                $cancelled = Chain::cancel($queue, 'c');
            });

            return function () use (&$cancelled): void {
                $this->assertContains($cancelled, [0, 3]);
                $this->assertAllRan($cancelled === 0 ? ['c' => 1, 'c/2' => 1, 'c/3' => 1] : []);
            };
        });
    }

    public function testAChainIsCancelledTwice(): void
    {
        $this->inEachOrder(function (Actors $actors): Closure {
            $this->begin(1);
            $cancelled = 0;
            foreach ([1, 2] as $time) {
                $actors->add($this->links, static function (QueueInterface $queue) use (&$cancelled): void {
                    $cancelled += Chain::cancel($queue, 'c');
                });
            }

            return function () use (&$cancelled): void {
                $this->assertSame(2, $cancelled);
                $this->assertAllRan(['c' => 1]);
            };
        });
    }

    public function testAChainIsCancelledWhileItIsChecked(): void
    {
        foreach ([0, 1, 2] as $handled) {
            $this->inEachOrder(function (Actors $actors) use ($handled): Closure {
                $this->begin($handled);
                $actors->add($this->links, static fn (QueueInterface $queue) => Chain::cancel($queue, 'c'));
                $actors->add($this->links, static fn (QueueInterface $queue) => Chain::check($queue, 'c'));

                return fn () => $this->assertAllRan(array_slice(['c' => 1, 'c/2' => 1], 0, $handled));
            });
        }
    }

    public function testAWorkerDiesAnywhere(): void
    {
        foreach (['c', 'c/2', 'c/3'] as $handled => $link) {
            $this->dyingAnywhere(function (Actors $actors) use ($handled, $link): Closure {
                $this->begin($handled);
                $this->worker($actors);

                return function () use ($link): void {
                    $this->links->drain(new Follow($this->handle(...)));
                    $this->travel('2m');
                    $this->links->drain(new Follow($this->handle(...)));
                    $this->ran[$link] = min(1, $this->ran[$link]);
                    $this->assertAllRan(['c' => 1, 'c/2' => 1, 'c/3' => 1]);
                };
            });
        }
    }

    /** @dataProvider repairs */
    #[\PHPUnit\Framework\Attributes\DataProvider('repairs')]
    public function testAPushDiesAnywhere(string $repair): void
    {
        $this->dyingAnywhere(function (Actors $actors) use ($repair): Closure {
            $this->begin(null);
            $actors->add($this->links, $this->push(...));

            return function () use ($repair): void {
                $hasBegun = $this->links->sibling('chains')->count() > 0;
                $repair === 'push' ? $this->push($this->links) : Chain::check($this->links, 'c');
                $this->assertAllRan($hasBegun || $repair === 'push' ? ['c' => 1, 'c/2' => 1, 'c/3' => 1] : []);
            };
        });
    }

    /** @return list<array{string}> */
    public static function repairs(): array
    {
        return [['push'], ['check']];
    }

    public function testACancellationDiesAnywhere(): void
    {
        $this->dyingAnywhere(function (Actors $actors): Closure {
            $this->begin(1);
            $actors->add($this->links, static fn (QueueInterface $queue) => Chain::cancel($queue, 'c'));

            return function (): void {
                Chain::cancel($this->links, 'c');
                $this->links->drain(new Follow($this->handle(...)));
                unset($this->ran['c/2']);
                $this->assertAllRan(['c' => 1]);
            };
        });
    }

    /** @dataProvider ends */
    #[\PHPUnit\Framework\Attributes\DataProvider('ends')]
    public function testACheckDiesAnywhere(string $end): void
    {
        $this->dyingAnywhere(function (Actors $actors) use ($end): Closure {
            $this->begin(1);
            $end === 'buried' ? $this->links->reserve()->bury('no') : $this->links->cancel('c/2');
            $actors->add($this->links, static fn (QueueInterface $queue) => Chain::check($queue, 'c'));

            return function () use ($end): void {
                // The job of onFailure(), if it was pushed, is done with before anybody checks again.
                $this->links->drain(new Follow($this->handle(...)));
                Chain::check($this->links, 'c');
                $end === 'buried' && $this->links->kick();
                $this->assertAllRan($end === 'buried' ? ['c' => 1, 'c/2' => 1, 'c/3' => 1, 'c/failed' => 1] : ['c' => 1, 'c/failed' => 1]);
            };
        });
    }

    /** @dataProvider ends */
    #[\PHPUnit\Framework\Attributes\DataProvider('ends')]
    public function testTwoChecksTellOfAFailureOnce(string $end): void
    {
        $this->inEachOrder(function (Actors $actors) use ($end): Closure {
            $this->begin(1);
            $end === 'buried' ? $this->links->reserve()->bury('no') : $this->links->cancel('c/2');
            $actors->add($this->links, static fn (QueueInterface $queue) => Chain::check($queue, 'c'));
            $actors->add($this->links, static fn (QueueInterface $queue) => Chain::check($queue, 'c'));

            return function () use ($end): void {
                $end === 'buried' && $this->links->kick();
                $this->assertAllRan($end === 'buried' ? ['c' => 1, 'c/2' => 1, 'c/3' => 1, 'c/failed' => 1] : ['c' => 1, 'c/failed' => 1]);
            };
        });
    }

    /** @return list<array{string}> */
    public static function ends(): array
    {
        return [['buried'], ['gone']];
    }

    private function dyingAnywhere(Closure $scene): void
    {
        $this->assertGreaterThan(1, Actors::dyingAnywhere($scene));
    }

    private function inEachOrder(Closure $scene): void
    {
        $orders = Actors::inEachOrder($scene);
        $this->assertGreaterThan(2, $orders);
    }

    /** @param int|null $handled so many links are done; null: there is no chain yet */
    private function begin(?int $handled): void
    {
        Testing::forgetMemory();
        $this->links = $this->delayQueue('links');
        $this->ran = [];
        if ($handled !== null) {
            $this->push($this->links);
            $handled === 0 || $this->links->drain(new Follow($this->handle(...)), $handled);
        }
    }

    private function push(QueueInterface $queue): void
    {
        Chain::of(['payload' => 1, 'id' => 'c'], ['payload' => 2], ['payload' => 3])->onFailure(['payload' => 4])->push($queue);
    }

    private function handle(JobInterface $job): void
    {
        $this->ran[$job->id] = ($this->ran[$job->id] ?? 0) + 1;
    }

    /** Takes a job now, and handles it later; then the jobs behind it. */
    private function worker(Actors $actors, int $jobs = 1): void
    {
        $job = $this->links->reserve();
        $actors->add($this->links, function (QueueInterface $queue) use ($job, $jobs): void {
            while ($job !== null) {
                (new Follow($this->handle(...)))($job, $queue);
                Fiber::suspend();
                try {
                    $job->ack();
                } catch (LeaseLostException) {
                    // Another worker has it.
                }
                $job = --$jobs > 0 ? $this->links->reserve() : null;
            }
        });
    }

    /** Checks a chain that is well. */
    private function checker(Actors $actors): void
    {
        $actors->add($this->links, function (QueueInterface $queue): void {
            $status = Chain::check($queue, 'c');
            $status === null || $this->assertNotNull($status->state);
        });
    }

    /** @param array<string, int> $expected when the other jobs are done, too */
    private function assertAllRan(array $expected): void
    {
        $this->links->drain(new Follow($this->handle(...)));
        ksort($expected);
        ksort($this->ran);
        $this->assertSame($expected, $this->ran);
        $this->assertSame(0, $this->links->count());
        $this->assertSame(0, $this->links->sibling('chains')->count());
    }
}
