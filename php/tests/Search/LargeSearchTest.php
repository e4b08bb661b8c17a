<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Search;

use DelayQueue\Search\Search;
use DelayQueue\Search\Tags;
use DelayQueue\State;
use DelayQueue\Tests\OnAnyStore;
use Generator;
use PHPUnit\Framework\TestCase;

/** The memory of a pass does not grow with the queue. bench/search.php measures one over a million jobs. */
final class LargeSearchTest extends TestCase
{
    use OnAnyStore;

    public function testAPassOverManyJobsNeedsTheMemoryOfAPage(): void
    {
        $queue = $this->delayQueue('large');
        $queue->pushMany((static function (): Generator {
            for ($n = 0; $n < 20_000; $n++) {
                yield ['payload' => ['order' => $n], 'delay' => 1000 + $n, 'headers' => $n % 100 === 0 ? Tags::of('rare') : []];
            }
        })());
        $rare = Search::in($queue, State::Delayed)->tag('rare');
        $passes = [
            'count' => [20_000, Search::in($queue, State::Delayed)->count(...)],
            'walk' => [200, static fn (): int => iterator_count($rare)],
            'reschedule' => [200, static fn (): int => $rare->reschedule('1d')],
            'move' => [200, static fn (): int => $rare->moveTo($queue->sibling('other'))],
            'cancel' => [19_800, Search::in($queue)->cancel(...)],
        ];
        foreach ($passes as $name => [$expected, $pass]) {
            memory_reset_peak_usage();
            $before = memory_get_usage();
            $this->assertSame($expected, $pass(), $name);
            $this->assertLessThan(4_000_000, memory_get_peak_usage() - $before, $name);
        }
        $this->assertCount(0, $queue);
    }
}
