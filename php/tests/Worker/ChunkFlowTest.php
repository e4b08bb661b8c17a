<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Worker;

use DelayQueue\Bury;
use DelayQueue\Flow\Chain;
use DelayQueue\QueueInterface;
use DelayQueue\State;
use DelayQueue\Tests\OnAnyStore;
use DelayQueue\Worker\Chunk;
use PHPUnit\Framework\TestCase;

/** Jobs of a chunk that are links of chains. */
final class ChunkFlowTest extends TestCase
{
    use OnAnyStore;

    public function testTheNextLinkFollowsEachJobThatIsDoneAndTheFailureOneThatIsBuried(): void
    {
        $queue = $this->delayQueue();
        foreach (['done', 'acked', 'bury', 'false', 'bury itself'] as $do) {
            Chain::of(['payload' => $do, 'id' => $do], ['payload' => 'next'])->onFailure(['payload' => "failed $do", 'queue' => 'failures'])->push($queue);
        }
        $seen = [];
        $chunk = Chunk::of(10, within: 0, handler: static function (array $jobs, QueueInterface $queue) use (&$seen): array {
            $answers = [];
            foreach ($jobs as $job) {
                $seen[] = $job->id;
                match ($job->payload) {
                    'acked' => $job->ack(),
                    'bury itself' => $job->bury('me'),
                    default => null,
                };
                $answers[$job->id] = match ($job->payload) {
                    'bury' => new Bury('never'),
                    'false' => false,
                    default => 'result',
                };
            }

            return $answers;
        });

        $chunk->consume($queue, stopWhenEmpty: true);

        sort($seen);
        $this->assertSame(['acked', 'acked/2', 'bury', 'bury itself', 'done', 'done/2', 'false'], $seen);
        $failures = array_map(static fn ($job): string => $job->payload, $this->delayQueue('failures')->list(State::Ready));
        sort($failures);
        $this->assertSame(['failed bury', 'failed bury itself'], $failures);
        $this->assertSame([1, 2], [$queue->count(State::Delayed), $queue->count(State::Buried)]);
    }
}
