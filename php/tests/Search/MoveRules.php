<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Search;

use DateTimeImmutable;
use DelayQueue\Backoff;
use DelayQueue\ConnectionException;
use DelayQueue\JobInfo;
use DelayQueue\OnExpiry;
use DelayQueue\QueueInterface;
use DelayQueue\Search\Search;
use DelayQueue\State;

/** How jobs move to another queue, and what a crash in the middle leaves. */
trait MoveRules
{
    public function testAJobArrivesWithItsPast(): void
    {
        $queue = $this->queue();
        $until = new DateTimeImmutable('2040-01-01');
        foreach (['fresh', 'failed', 'rescheduled', 'kicked', 'released', 'buried', 'lost', 'grouped'] as $n => $id) {
            $queue->push(
                ['n' => $n],
                delay: 60,
                id: $id,
                priority: 1 + $n,
                ttr: '90s',
                maxAttempts: 7,
                backoff: Backoff::fixed('1h'),
                timeout: 5,
                headers: ['tenant' => 'acme', '0' => 'zero'],
                expires: $n % 2 === 0 ? '3h' : null,
                onExpiry: OnExpiry::Drop,
                retryUntil: $n % 2 === 1 ? $until : null,
                group: $id === 'grouped' ? 'g' : null,
            );
        }
        $this->queue(options: ['format' => 'raw'])->push("\x00\xFF", id: 'ready');
        $queue->push(1, delay: new DateTimeImmutable('-1 hour'), id: 'late');
        foreach (['failed', 'rescheduled', 'released', 'buried'] as $id) {
            $queue->reserveJob($id)->fail("no money for $id");
        }
        $queue->reschedule('rescheduled', 120);
        $queue->reserveJob('released')->release('2h');
        foreach (['buried', 'kicked'] as $id) {
            $queue->reserveJob($id)->bury("never\nagain");
        }
        $queue->kickJob('kicked', resetAttempts: false);
        $queue->reserveJob('lost');
        $this->travel('91s');
        $before = [];
        foreach (Search::in($queue) as $job) {
            $before[$job->id] = $job;
        }
        $target = $this->queue('target');
        $search = Search::in($queue);
        $this->assertSame(10, $search->moveTo($target));
        $this->assertSame([0, 0, 10], [count($queue), $search->skipped(), count($target)]);
        foreach ($before as $id => $job) {
            $this->assertEquals(['queue' => 'target'] + self::facts($job), self::facts($target->peek((string) $id)), (string) $id);
        }
        $this->assertSame([State::Buried, 'g', 1], [$target->peek('buried')->state, $target->peek('grouped')->group, $target->peek('lost')->timeouts]);
        $this->assertSame([], $target->receipts(), 'they are forgotten');
    }

    public function testAJobOfAChainOrABatchStays(): void
    {
        [$queue, $target] = [$this->queue(), $this->queue('target')];
        foreach (['dq-chain', 'dq-batch', 'mine'] as $header) {
            $queue->push($header, id: $header, headers: [$header => 'x']);
        }
        $search = Search::in($queue);
        $this->assertSame([1, 2], [$search->moveTo($target), $search->skipped()]);
        $this->assertSame(['mine', 2], [$target->peekReady()?->id, $queue->count()]);
    }

    public function testAJobWhoseIdIsTakenThereStays(): void
    {
        $queue = $this->queue();
        $target = $this->queue('target');
        $this->bury($queue, 3);
        $target->push('other', id: 'job-2', delay: 60);
        [$job, $other] = [$queue->peek('job-2'), $target->peek('job-2')];
        $search = Search::in($queue);
        $this->assertSame([2, 1], [$search->moveTo($target), $search->skipped()]);
        $this->assertEquals($job, $queue->peek('job-2'));
        $this->assertEquals($other, $target->peek('job-2'));

        $target->cancel('job-2');
        $this->assertSame(1, $search->moveTo($target));
    }

    public function testAnIdThatIsTakenInTheLastMomentKeepsTheJobToo(): void
    {
        foreach ([State::Delayed, State::Ready, State::Buried] as $state) {
            [$queue, $target] = [$this->queue("from-$state->value"), $this->queue("to-$state->value")];
            $queue->push(1, delay: $state === State::Delayed ? 60 : 0, id: 'a');
            $state === State::Buried && $queue->reserve()->bury('why');
            $job = $queue->peek('a');
            $late = $this->interposed($target, static function (string $method, callable $call) use ($target): mixed {
                $method === 'pushOnce' && $target->tryPush(['payload' => 'first', 'id' => 'a']);

                return $call();
            });
            $search = Search::in($queue);
            $this->assertSame([0, 1], [$search->moveTo($late), $search->skipped()]);
            $this->assertSame([$state, 'why', 'first'], [$queue->peek('a')->state, $queue->peek('a')->lastError ?? 'why', $target->peek('a')->payload]);
            $state === State::Buried || $this->assertSame([$job->dueAt, 0], [$queue->peek('a')->dueAt, $queue->peek('a')->attempts]);

            $this->assertSame([], $target->receipts(), 'none says that it is there');
            $target->cancel('a');
            $this->assertSame(1, $search->moveTo($target));
            $this->assertSame(1, $target->peek('a')->payload);
        }
    }

    /** The calls of one move in their order. A crash comes before it, or behind it, where the target has its word but nobody hears it. */
    public function testACrashAnywhereLosesNothingAndTheNextMoveSettlesIt(): void
    {
        $steps = [['reserveJob', false], ['reserveJob', true], ['pushOnce', false], ['pushOnce', true], ['forgetReceipts', false], ['forgetReceipts', true]];
        foreach ($steps as $number => [$step, $isBehind]) {
            foreach ([State::Delayed, State::Ready, State::Buried] as $state) {
                $name = "$number-$state->value";
                [$queue, $target] = [$this->queue("from-$name"), $this->queue("to-$name")];
                $queue->push('x', delay: $state === State::Delayed ? '1h' : 0, id: 'a', ttr: 10);
                $state === State::Buried && $queue->reserve()->bury('why');
                $crash = static function (string $method, callable $call) use ($step, $isBehind): mixed {
                    if ($method !== $step) {
                        return $call();
                    }
                    $isBehind && $call();
                    $error = new ConnectionException('crash');
                    $error->ambiguous = true;
                    throw $error;
                };
                try {
                    Search::in($this->interposed($queue, $crash))->moveTo($this->interposed($target, $crash));
                    $this->fail('no crash');
                } catch (ConnectionException $error) {
                    $this->assertSame('crash', $error->getMessage());
                }
                $places = array_map(static fn (QueueInterface $of): ?JobInfo => $of->peek('a'), [$queue, $target]);
                $this->assertNotSame([null, null], $places, "$name: it is nowhere");
                $this->travel(11);
                // A buried job is ready when its lease has ended.
                $repeated = Search::in($queue, ...($places[1] === null ? [] : [$state]));
                $this->assertSame($places[0] === null ? 0 : 1, $repeated->moveTo($target), $name);
                $this->assertSame([0, 1], [count($queue), count($target)], $name);
                $this->assertSame([], $target->receipts(), $name);
            }
        }
    }

    public function testACopyThatIsDoneBeforeTheMoveIsRepeatedDoesNotComeAgain(): void
    {
        [$queue, $target] = [$this->queue(), $this->queue('target')];
        $queue->push('x', id: 'a', ttr: 10);
        $this->breakOff($queue, $target, 'pushOnce');
        $target->reserve()->ack();
        $this->travel(11);
        $this->assertSame(1, Search::in($queue)->moveTo($target));
        $this->assertSame([0, 0, []], [count($queue), count($target), $target->receipts()]);
    }

    public function testAReceiptOfABrokenOffMoveIsNotTakenForThatOfALaterOne(): void
    {
        [$queue, $target, $third] = [$this->queue(), $this->queue('target'), $this->queue('third')];
        $queue->push('x', id: 'a', ttr: 10);
        $this->breakOff($queue, $target, 'ack');
        $this->assertSame([0, 1], [count($queue), count($target)]);
        $this->assertCount(1, $target->receipts(), 'it was not forgotten');
        // Round and back: the job is the one that the receipt names.
        foreach ([[$target, $third], [$third, $queue], [$queue, $target]] as [$from, $to]) {
            $this->assertSame(1, Search::in($from)->moveTo($to));
        }
        $this->assertSame([0, 1], [count($queue), count($target)]);

        $queue->push('new', id: 'b', ttr: 10);
        $this->breakOff($queue, $target, 'ack');
        $this->assertSame(2, Search::in($target)->moveTo($queue));
        $this->assertSame(2, Search::in($queue)->moveTo($target));
        $this->assertSame([2, []], [count($target), $target->receipts()]);
        $target->cancel('a');
        $queue->push('another', id: 'a');
        $this->assertSame(1, Search::in($queue)->moveTo($target));
        $this->assertSame('another', $target->peek('a')->payload);
    }

    public function testAJobThatLostALeaseBeforeAndComesBackByAThirdQueueMovesOnceMore(): void
    {
        [$queue, $target, $third] = [$this->queue(), $this->queue('target'), $this->queue('third')];
        $queue->push('x', id: 'a', ttr: 10);
        $queue->reserve();
        $this->travel(11);
        $this->breakOff($queue, $target, 'ack');
        foreach ([[$target, $third], [$third, $queue], [$queue, $target]] as [$from, $to]) {
            $this->assertSame(1, Search::in($from)->moveTo($to));
            $this->assertSame([0, 1], [count($from), count($to)]);
        }
    }

    public function testAJobThatLostALeaseIsNotTakenForOneOfABrokenOffMove(): void
    {
        [$queue, $target] = [$this->queue(), $this->queue('target')];
        $queue->push('x', id: 'a', ttr: 10);
        $queue->reserve();
        $this->travel(11);
        $this->breakOff($queue, $target, 'ack');
        $this->assertSame('lease expired', $target->peek('a')->lastError);
        $this->assertSame(1, Search::in($target)->moveTo($queue));
        $this->assertSame([1, 0, 1], [Search::in($queue)->moveTo($target), count($queue), count($target)]);
    }

    public function testALostAnswerMovesTheJobAllTheSame(): void
    {
        [$queue, $target] = [$this->queue(), $this->queue('target')];
        $queue->push('x', id: 'a');
        $twice = $this->interposed($target, static function (string $method, callable $call): mixed {
            $method === 'pushOnce' && $call();

            return $call();
        });
        $this->assertSame([1, 0, 1], [Search::in($queue)->moveTo($twice), count($queue), count($target)]);
    }

    public function testAJobThatChangesAfterTheLookStays(): void
    {
        $queue = $this->queue();
        $target = $this->queue('target');
        $changes = [
            'cancelled' => static fn (string $id) => $queue->cancel($id),
            'held' => static fn (string $id) => $queue->reserveJob($id),
            'payload' => static fn (string $id) => $queue->update($id, 'new'),
            'time' => static fn (string $id) => $queue->reschedule($id, 30),
            'buried' => static fn (string $id) => $queue->reserveJob($id)->bury('why'),
        ];
        foreach ($changes as $id => $change) {
            $queue->push('old', id: $id, delay: 60);
            $seen = $queue->list(State::Delayed);
            $change($id);
            $before = self::place($queue->peek($id));
            $search = Search::in($this->seenBefore($queue, ...$seen), State::Delayed);
            $this->assertSame([0, 1], [$search->moveTo($target), $search->skipped()], $id);
            $this->assertEquals($before, self::place($queue->peek($id)), $id);
            $queue->cancel($id);
        }
        $this->assertCount(0, $target);
    }

    /** @param string $behind the last step that is done */
    private function breakOff(QueueInterface $queue, QueueInterface $target, string $behind): void
    {
        $crash = static function (string $method, callable $call) use ($behind): mixed {
            $isPush = $behind === 'pushOnce' && $method === 'pushOnce';
            $answer = $behind === 'ack' && $method === 'forgetReceipts' ? null : $call();
            if ($isPush || $answer === null && $method === 'forgetReceipts') {
                $error = new ConnectionException('crash');
                $error->ambiguous = true;
                throw $error;
            }

            return $answer;
        };
        try {
            Search::in($queue)->moveTo($this->interposed($target, $crash));
            $this->fail('no crash');
        } catch (ConnectionException) {
        }
    }

    /** @return list<mixed> */
    private static function place(?JobInfo $job): array
    {
        return [$job?->state, $job?->dueAt, $job?->attempts, $job?->body];
    }

    /** @return array<string, mixed> */
    private static function facts(JobInfo $job): array
    {
        // A list does not tell for what a job waits, as a look does.
        $facts = array_diff_key(get_object_vars($job), ['waitsFor' => 1, 'earliestAt' => 1, 'ahead' => 1, 'heldUpBy' => 1]);
        $facts['backoff'] = (string) $job->backoff;
        $facts['firstDueAt'] ??= $job->dueAt;

        return $facts;
    }
}
