<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony;

use DelayQueue\State;
use DelayQueue\Symfony\Stamp\DelayQueueStamp;
use DelayQueue\Tests\Symfony\App\Work;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Stamp\DelayStamp;
use Symfony\Component\Messenger\Stamp\RedeliveryStamp;

/** The numbers of a queue tell what became of the handling of Messenger's messages. */
final class OutcomesTest extends MessengerTestCase
{
    public function testAMessageThatFailsFourTimesIsFourFailedRuns(): void
    {
        $this->transport()->send(new Envelope(new Work('a', 'fail'), [new DelayQueueStamp('a')]));
        $this->worker('orders');
        $this->until(fn () => $this->jobs('failed')->peek('a'), 'it is in the failure transport');
        $this->until(fn () => $this->jobs('orders')->count() === 0, 'it has left its own');

        $this->assertRuns('orders', ['acked' => 0, 'failed' => 4, 'released' => 0, 'buried' => 0, 'timed_out' => 0]);
        $page = $this->jobs('orders')->stats()->toPrometheus();
        $this->assertStringContainsString('delayqueue_failed_total{queue="orders"} 4', $page);
        $this->assertStringContainsString('delayqueue_acked_total{queue="orders"} 0', $page);
        $this->assertSame(1, $this->jobs('orders')->stats()->pushed);
    }

    public function testARetryThatSucceedsIsOneFailedRunAndOneThatIsAcked(): void
    {
        $this->transport()->send(new Envelope(new Work('a', 'fail 1')));
        $this->worker('orders');
        $this->deed('end', 'a');
        $this->until(fn () => $this->jobs('orders')->count() === 0, 'it is acknowledged');
        $this->assertRuns('orders', ['acked' => 1, 'failed' => 1, 'released' => 0, 'buried' => 0, 'timed_out' => 0]);
    }

    public function testAMessageThatWaitsForItsRetryTellsWhyItFailed(): void
    {
        $this->transport('failed')->send(new Envelope(new Work('a', 'fail'), [new DelayQueueStamp('a')]));
        $this->worker('failed');
        $job = $this->until(fn () => $this->jobs('failed')->list(State::Delayed)[0] ?? null, 'its retry is delayed');
        $this->assertStringStartsWith("RuntimeException: a failed\nin ", (string) $job->lastError);
        $this->assertSame([0, 1], [$job->attempts, $this->jobs('failed')->stats()->failed]);
    }

    public function testARejectedMessageThatIsBuriedIsAFailedRunAndTellsWhy(): void
    {
        $this->transport('buries')->send(new Envelope(new Work('a', 'fail'), [new DelayQueueStamp('a')]));
        $this->worker('buries');
        $job = $this->until(fn () => $this->jobs('buries')->peekBuried(), 'it is buried');
        $this->assertStringStartsWith("RuntimeException: a failed\nin ", (string) $job->lastError);
        $this->assertRuns('buries', ['acked' => 0, 'failed' => 4, 'released' => 0, 'buried' => 0, 'timed_out' => 0]);
    }

    public function testWhereNobodyNotesWhyARetryIsAFailedRunAllTheSame(): void
    {
        $transport = $this->transport();
        $transport->send(new Envelope(new Work('a'), [new DelayQueueStamp('a')]));
        [$envelope] = $transport->get();
        $transport->send($envelope->with(new DelayStamp(2000), new RedeliveryStamp(1)));
        $transport->reject($envelope);
        $this->assertSame([0, 'handling the message failed'], [$this->jobs('orders')->peek('a')->attempts, $this->jobs('orders')->peek('a')->lastError]);
        $this->travel(2);
        $transport->reject($transport->get()[0]);
        $this->assertRuns('orders', ['acked' => 0, 'failed' => 2, 'released' => 0, 'buried' => 0, 'timed_out' => 0]);
    }

    /** @param array<string, int> $runs */
    private function assertRuns(string $queue, array $runs): void
    {
        $stats = $this->jobs($queue)->stats();
        $this->assertSame($runs, array_map(static fn (array $times): int => $times['count'], $stats->runTimes()));
        $this->assertSame([$runs['acked'], $runs['failed']], [$stats->acked, $stats->failed]);
    }
}
