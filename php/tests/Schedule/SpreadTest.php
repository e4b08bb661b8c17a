<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Schedule;

use ArrayObject;
use DateInterval;
use DateTimeImmutable;
use DateTimeZone;
use DelayQueue\Schedule\Spread;
use DelayQueue\Tests\OnAnyStore;
use Generator;
use PHPUnit\Framework\TestCase;
use TypeError;
use ValueError;

final class SpreadTest extends TestCase
{
    use OnAnyStore;

    public function testAnArrayAndACountableAreSpreadEvenlyInTheirOrder(): void
    {
        $jobs = ['x' => ['payload' => 1], 'y' => ['payload' => 2, 'id' => 'b'], 'z' => ['payload' => 3], 'w' => ['payload' => 4]];
        foreach ([$jobs, new ArrayObject($jobs)] as $given) {
            $spread = iterator_to_array(Spread::over($given, '1m'));
            $this->assertSame([0.0, 15.0, 30.0, 45.0], array_column($spread, 'delay'));
            $this->assertSame([1, 2, 3, 4], array_column($spread, 'payload'));
            $this->assertSame('b', $spread[1]['id']);
        }
    }

    public function testADelayThatAJobHasStays(): void
    {
        $moment = new DateTimeImmutable('2030-03-31 01:59:59.5', new DateTimeZone('Europe/Berlin'));
        $given = ['1h', new DateInterval('PT5S'), $moment, 0.5];
        $jobs = array_map(static fn (mixed $delay): array => ['payload' => 1, 'delay' => $delay], $given);
        $delays = array_column(iterator_to_array(Spread::over($jobs, 4)), 'delay');
        $this->assertSame([3600.0, 6.0, 3.5], [$delays[0], $delays[1], $delays[3]]);
        $this->assertSame('2030-03-31 03:00:01.500000 Europe/Berlin', $delays[2]->format('Y-m-d H:i:s.u e'), 'two seconds later, over the change of clocks');
    }

    public function testAGeneratorIsSpreadEvenlyWithoutBeingCounted(): void
    {
        foreach ([1, 10, 1000] as $count) {
            $delays = array_column(iterator_to_array(Spread::over(self::jobs($count), 1000)), 'delay');
            sort($delays);
            $this->assertCount($count, $delays);
            $this->assertGreaterThanOrEqual(0, $delays[0]);
            $this->assertLessThan(1000, end($delays));
            $gaps = array_map(static fn (float $a, float $b): float => $b - $a, [0.0, ...$delays], [...$delays, 1000.0]);
            $this->assertLessThanOrEqual(2.62 * 1000 / $count, max($gaps), 'no gap is much longer than the mean one');
        }
    }

    public function testAJobOfAGeneratorIsReadWhenItIsPushed(): void
    {
        $read = 0;
        $jobs = (static function () use (&$read): Generator {
            while (true) {
                yield ['payload' => $read++];
            }
        })();
        $spread = Spread::over($jobs, '1h');
        $this->assertSame(0, $read);
        $this->assertSame(0, $spread->current()['payload']);
        $this->assertSame(1, $read);
    }

    public function testPushManyTakesIt(): void
    {
        $queue = $this->delayQueue();
        $queue->pushMany(Spread::over(array_map(static fn (int $n): array => ['payload' => $n, 'id' => "job-$n"], range(0, 5)), '30m'));
        $this->assertDelayed('job-5', delay: 1500);
        $this->assertSame([1, 6], [$queue->stats()->ready, count($queue)]);
        $this->assertSame([], $queue->pushMany(Spread::over([], '30m')));
    }

    public function testBadInputIsRefused(): void
    {
        foreach (['x', -1, NAN] as $over) {
            try {
                Spread::over([], $over);
                $this->fail('it was taken');
            } catch (ValueError $error) {
                $this->assertStringStartsWith(Spread::class . '::over(): Argument #2 ($over) must be ', $error->getMessage());
            }
        }
        $this->expectException(ValueError::class);
        $this->expectExceptionMessage('over(): Argument #1 ($jobs) item 1: delay must be a number of seconds or a duration');
        iterator_to_array(Spread::over([['payload' => 1], ['payload' => 2, 'delay' => 'soon']], '1m'));
    }

    /** @return Generator<int, array{payload: int}> */
    private static function jobs(int $count): Generator
    {
        for ($number = 0; $number < $count; $number++) {
            yield ['payload' => $number];
        }
    }

    public function testAJobOrDelayOfAWrongTypeIsNamed(): void
    {
        $this->assertSame(['a'], iterator_to_array(Spread::over(['a'], '1m')), 'for pushMany() to refuse');
        $this->expectException(TypeError::class);
        $this->expectExceptionMessage('item 0: delay must be of type DateTimeInterface|DateInterval|string|int|float, array given');
        iterator_to_array(Spread::over([['payload' => 1, 'delay' => []]], '1m'));
    }
}
