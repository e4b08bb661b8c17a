<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Http;

use DateTimeImmutable;
use DelayQueue\Backoff;
use DelayQueue\Http\Notifier;
use DelayQueue\Http\Schedule;
use DelayQueue\Job;
use DelayQueue\State;
use DelayQueue\Tests\OnAnyStore;
use PHPUnit\Framework\TestCase;

/** The moments of all attempts, against a receiver that is out of order, down to the burial, and the way back. */
final class ScheduleTest extends TestCase
{
    use OnAnyStore;

    /** Seconds that one attempt may take on a busy machine; all schedules are coarser. */
    private const PATIENCE = 10.0;

    /** @return array<string, array{array{backoff: Backoff, maxAttempts: int}, list<int>}> */
    public static function schedules(): array
    {
        return [
            'stages' => [Schedule::stages(), [15, 180, 600, 1800, 1800, 3600, 7200, 21600, 54000]],
            'linear' => [Schedule::linear(), [180, 300, 420, 540, 660, 780, 900, 1020, 1140, 1260]],
        ];
    }

    /**
     * @dataProvider schedules
     *
     * @param array{backoff: Backoff, maxAttempts: int} $schedule
     * @param list<int> $delays seconds
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('schedules')]
    public function testAReceiverIsNotifiedAtTheseMomentsAndNoOthers(array $schedule, array $delays): void
    {
        $receiver = new Receiver();
        $receiver->answer([500, [], 'out of order']);
        $notifier = new Notifier(["127.0.0.1:$receiver->port"], allowHttp: true, privateNetworks: ['127.0.0.0/8']);
        /** @var list<float> $moments of attempts, by the clock of Redis */
        $moments = [];
        $handler = static function (Job $job) use ($notifier, &$moments): void {
            $moments[] = $job->reservedAt;
            $notifier($job);
        };
        $queue = $this->delayQueue('notify');
        $queue->push(['url' => "http://127.0.0.1:$receiver->port/", 'body' => 1], ...$schedule, id: 'a');

        foreach ($delays as $number => $delay) {
            $this->assertSame(1, $this->runDueJobs($handler, 'notify'), 'attempt ' . $number + 1);
            $info = $queue->peek('a');
            $this->assertSame(State::Delayed, $info?->state);
            $wait = $info->dueAt - $moments[$number];
            $this->assertGreaterThanOrEqual($delay, $wait);
            $this->assertLessThan($delay + self::PATIENCE, $wait);

            $this->travelTo(self::moment($info->dueAt - min(self::PATIENCE, $delay / 2)));
            $this->assertSame(0, $this->runDueJobs($handler, 'notify'), 'before its time');
            $this->travelTo(self::moment($info->dueAt));
        }
        $this->assertSame(1, $this->runDueJobs($handler, 'notify'), 'the last attempt');

        $this->assertBuried('a', 'notify', 'answered 500: out of order');
        $attempts = count($delays) + 1;
        $this->assertSame([$attempts, $attempts], [count($moments), $receiver->connections()]);
        $whole = end($moments) - $moments[0];
        $this->assertGreaterThanOrEqual(array_sum($delays), $whole);
        $this->assertLessThan(array_sum($delays) + self::PATIENCE * $attempts, $whole);

        $this->travel('30d');
        $this->assertSame(0, $this->runDueJobs($handler, 'notify'), 'buried is buried');

        $receiver->answer([500], [200]);
        $this->assertSame(1, $queue->kick());
        $this->assertSame(1, $this->runDueJobs($handler, 'notify'));
        $this->assertDelayed('a', 'notify');
        $this->travel($delays[0] + 1);
        $this->assertSame(1, $this->runDueJobs($handler, 'notify'));
        $this->assertQueueEmpty('notify');
    }

    public function testOwnDelaysGiveOneAttemptMoreThanThereAreDelays(): void
    {
        $this->assertSame(3, Schedule::stages('1m, 2m')['maxAttempts']);
        $this->assertSame(4, Schedule::stages([60, '2m', new \DateInterval('PT3M')])['maxAttempts']);
        $linear = Schedule::linear(times: 3, step: 10, base: 0);
        $this->assertSame([4, 10.0, 30.0], [$linear['maxAttempts'], $linear['backoff']->delayAfter(1), $linear['backoff']->delayAfter(3)]);
    }

    private static function moment(float $seconds): DateTimeImmutable
    {
        // Up to the next millisecond, as the queue does.
        return DateTimeImmutable::createFromFormat('U.u', sprintf('%.6F', $seconds + 0.001));
    }
}
