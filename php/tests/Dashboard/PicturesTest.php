<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Dashboard;

use DelayQueue\Dashboard\Access;
use DelayQueue\Dashboard\Handler;
use DelayQueue\Dashboard\Request;
use DelayQueue\Job;
use DelayQueue\Tests\OnAnyStore;
use PHPUnit\Framework\TestCase;
use RuntimeException;

/** Pictures of the dashboard, as they are told to those who do not see them. */
final class PicturesTest extends TestCase
{
    use OnAnyStore;

    public function testTheLastHourIsDrawnInColumnsAndInARow(): void
    {
        $queue = $this->delayQueue('orders', ['maxAttempts' => 1]);
        $this->assertStringNotContainsString('The last hour', $this->page('/queue', ['queue' => 'orders']));
        for ($round = 0; $round < 4; ++$round) {
            foreach (['a', 'b', 'c'] as $id) {
                $queue->push($id, id: "$id$round");
            }
            $queue->close(); // a consumer that has just connected copies the counters
            $queue->drain(static fn (Job $job): bool => $job->payload !== 'c' || throw new RuntimeException('no'));
            $this->travel('5m 1s');
        }
        // Each copy was made when a round began, so the jobs of the last round are in none.
        $queues = $this->page('/', []);
        $this->assertSame(1, preg_match('/<svg viewBox[^>]+ aria-label="(\d+) acknowledged, (\d+) failed in the last hour"/', $queues, $row), $queues);
        $this->assertGreaterThanOrEqual(4, (int) $row[1]);
        $this->assertGreaterThanOrEqual(2, (int) $row[2]);
        $this->assertSame((int) $row[2], substr_count($queues, 'class="bad"></rect>'), 'one failure in each column');
        $page = $this->page('/queue', ['queue' => 'orders']);
        $this->assertStringContainsString("aria-label=\"Acknowledged: $row[1]\"", $page);
        $this->assertStringContainsString("aria-label=\"Failed attempts: $row[2]\"", $page);
    }

    public function testWhatFallsDueIsCountedInEachRange(): void
    {
        $queue = $this->delayQueue('orders');
        foreach (['30s' => 1, '30m' => 2, '20h' => 3, '20d' => 4] as $delay => $number) {
            for ($n = 0; $n < $number; ++$n) {
                $queue->push($n, delay: $delay);
            }
        }
        foreach (['minute' => 1, 'hour' => 3, 'day' => 6, 'month' => 10] as $range => $number) {
            $page = $this->page('/queue', ['queue' => 'orders', 'range' => $range]);
            $this->assertStringContainsString("aria-label=\"Jobs of the next $range, by the time they are due: $number\"", $page);
        }
    }

    /** @param array<string, string> $query */
    private function page(string $path, array $query): string
    {
        return (new Handler($this->delayQueue(), static fn (): Access => Access::Read))->handle(new Request('GET', $path, $query))->body;
    }
}
