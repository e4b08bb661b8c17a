<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Flow;

use ArrayObject;
use DelayQueue\Bury;
use DelayQueue\Flow\Batch;
use DelayQueue\Flow\Chain;
use DelayQueue\Flow\Follow;
use DelayQueue\JobInterface;
use DelayQueue\Middleware\Pipeline;
use DelayQueue\QueueInterface;
use DelayQueue\State;
use InvalidArgumentException;
use RuntimeException;

/** Jobs of a list, for consume(batch: …), that are links of chains or members of batches. */
final class FollowManyTest extends ChainCase
{
    public function testEachJobThatIsDoneIsFollowed(): void
    {
        foreach (['done', 'ack', 'bury', 'release', 'fail'] as $do) {
            $this->chain($do, ['payload' => $do], ['payload' => 'next'])
                ->onFailure(['payload' => "failed $do", 'queue' => 'failures'])
                ->push($this->queue());
        }
        $ran = $this->consume(static function (array $jobs): int {
            foreach ($jobs as $job) {
                in_array($job->payload, ['ack', 'bury', 'fail'], true) && $job->{$job->payload}();
                $job->payload === 'release' && $job->release('1h');
            }

            return count($jobs);
        });
        $this->assertCount(2, $ran);
        $this->assertSame('done,ack,bury,release,fail', $ran[0]);
        $this->assertEqualsCanonicalizing(['ack/2', 'done/2'], explode(',', $ran[1]));
        $this->assertSame(['failed bury'], array_column($this->delayQueue('failures')->list(State::Ready), 'payload'));
        $this->assertSame([2, 1], [$this->queue()->count(State::Delayed), $this->queue()->count(State::Buried)]);
    }

    public function testFollowersGetWhatTheHandlerHasReturned(): void
    {
        $this->chain('a', [], ['delay' => '1h'])->push($this->queue());
        $this->chain('b', [], ['delay' => '1h'])->push($this->queue());
        $this->consume(static fn (): array => ['rows' => 2]);
        foreach (['a/2', 'b/2'] as $id) {
            $this->assertSame(['rows' => 2], Chain::result($this->queue()->reserveJob($id)));
        }
    }

    public function testAThrownBuryEndsAllChains(): void
    {
        foreach (['a', 'b'] as $id) {
            $this->chain($id, [], [])->onFailure(['payload' => 1, 'delay' => '1h'])->push($this->queue());
        }
        $this->consume(static fn () => throw new Bury('too late'));
        foreach (['a', 'b'] as $id) {
            $this->assertSame('too late', Chain::failure($this->queue()->reserveJob("$id/failed"))['error']);
        }
    }

    public function testAJobWhoseFollowerCannotBePushedRunsAgainAndTheOthersAreDone(): void
    {
        $this->chain('a', [], ['delay' => '1h'])->push($this->queue());
        $this->queue()->push(1, id: 'strange', headers: [Chain::HEADER => 'no mark of a link']);
        $this->queue()->push(1, id: 'plain');
        $this->chain('full', [], ['queue' => 'small'])->push($this->queue());
        $this->queue('small')->pushMany(array_fill(0, 5, ['payload' => 1]));
        $ran = $this->consume(static fn () => null, ['capacity' => 5]);

        $this->assertSame(['a,strange,plain,full'], $ran->getArrayCopy());
        $full = $this->queue()->peek('full');
        $this->assertSame([State::Delayed, 0], [$full?->state, $full?->attempts]);
        $this->assertStringContainsString('what follows could not be pushed', $full->lastError);
        $this->assertSame(State::Delayed, $this->queue()->peek('strange')?->state);
        $this->assertStringContainsString('UnexpectedValueException', $this->queue()->peek('strange')->lastError);
        $this->assertNull($this->queue()->peek('plain'));
        $this->assertNotNull($this->queue()->peek('a/2'));
    }

    public function testTheLastMemberOfABatchPushesItsEnd(): void
    {
        $jobs = array_map(static fn (int $n): array => ['payload' => $n, 'id' => "member-$n"], range(1, 5));
        Batch::start($this->queue(), 'import', $jobs, ['payload' => 'all', 'queue' => 'ends']);
        $this->consume(static fn () => null, batch: 3);
        $this->assertSame(['all'], array_column($this->delayQueue('ends')->list(State::Ready), 'payload'));
    }

    public function testTheInnerOfTwoFollowsNothing(): void
    {
        $this->chain('a', [], ['delay' => '1h'])->push($this->queue());
        $inner = Follow::many(static fn (): string => 'inner');
        $this->consume(function (array $jobs, QueueInterface $queue) use ($inner): string {
            $inner($jobs, $queue);
            $this->assertNull($this->queue()->peek('a/2'));

            return 'outer';
        });
        $this->assertSame('"outer"', $this->queue()->peek('a/2')->headers[Chain::RESULT]);
    }

    public function testAnExceptionIsThatOfTheHandlerAndNothingIsFollowed(): void
    {
        $this->chain('a', [], [])->push($this->queue());
        $this->consume(static fn () => throw new RuntimeException('no'));
        $this->assertSame([State::Delayed, null], [$this->queue()->peek('a')->state, $this->queue()->peek('a/2')]);
    }

    public function testAHandlerThatTakesNoListIsRefused(): void
    {
        $words = '/^the parameter \S+ \$\w+ of the handler gets a list of jobs$/';
        $wrong = [
            static fn (JobInterface ...$jobs) => 1,
            static fn (string $jobs) => 1,
            new Follow(static fn ($job) => 1),
            new Pipeline(static fn (array $jobs) => 1),
        ];
        foreach ($wrong as $handler) {
            try {
                Follow::many($handler);
                $this->fail('it is taken');
            } catch (InvalidArgumentException $error) {
                $this->assertMatchesRegularExpression($words, $error->getMessage());
            }
        }
        Follow::many(static fn (iterable $jobs, QueueInterface $queue) => 1);
        Follow::many(static fn ($jobs) => 1);
        Follow::many(static fn (?array $jobs) => 1);
    }

    /**
     * Runs what is due in lists.
     *
     * @param array<string, mixed> $options of the queue
     *
     * @return ArrayObject<int, string> the ids that each call got
     */
    private function consume(callable $handler, array $options = [], int $batch = 10): ArrayObject
    {
        $calls = new ArrayObject();
        $noting = static function (array $jobs, QueueInterface $queue) use ($handler, $calls): mixed {
            $calls[] = implode(',', array_column($jobs, 'id'));

            return $handler($jobs, $queue);
        };
        $this->queue(options: $options)->consume(Follow::many($noting), stopWhenEmpty: true, batch: $batch);

        return $calls;
    }
}
