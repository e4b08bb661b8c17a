<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Console;

use DelayQueue\Console\Worker\Scale;
use PHPUnit\Framework\TestCase;

final class ScaleTest extends TestCase
{
    /** @return array<string, array{list<array{float, int, float, int}>}> wait, workers, moment, and the change that follows */
    public static function tables(): array
    {
        return [
            'a job that waits longer than it may adds one worker, up to the most' => [[
                [0.0, 2, 0, 0], [1.0, 2, 1, 0], [1.1, 2, 2, 1], [2.0, 3, 3, 1], [9.0, 4, 4, 1], [9.0, 5, 5, 0], [9.0, 6, 6, 0],
            ]],
            'after each minute of calm one ends, down to the least' => [[
                ...self::calm(4, 10, 69), [0.5, 4, 70, -1], ...self::calm(3, 71, 129), [1.0, 3, 130, -1], ...self::calm(2, 131, 300),
            ]],
            'a job that waits too long begins the minute anew' => [[
                [0.0, 4, 0, 0], ...self::calm(4, 1, 59), [2.0, 5, 60, 0], ...self::calm(5, 61, 120), [0.0, 5, 121, -1], ...self::calm(4, 122, 180), [0.0, 4, 181, -1],
            ]],
            'nobody knows whether a silence was calm' => [[
                ...self::calm(5, 0, 50), [0.0, 5, 58, 0], ...self::calm(5, 59, 117), [0.0, 5, 118, -1],
            ]],
            'at the least nobody ends' => [[...self::calm(2, 0, 200)]],
            'below the least, by an order, nobody is added for that' => [[...self::calm(1, 0, 200)]],
        ];
    }

    /**
     * @dataProvider tables
     *
     * @param list<array{float, int, float, int}> $table
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('tables')]
    public function testItFollowsTheLoad(array $table): void
    {
        $scale = new Scale(2, 5, 1.0);
        foreach ($table as [$wait, $workers, $now, $change]) {
            $this->assertSame($change, $scale->change($wait, $workers, $now), "at $now s");
        }
    }

    public function testAHeavyLoadHasTenWorkersWithinTenSecondsAndAHundredWithinTwenty(): void
    {
        foreach ([10 => 10, 100 => 20, 1000 => 30] as $most => $within) {
            $scale = new Scale(2, $most, 1.0);
            for ($workers = 2, $now = 0; $workers < $most; $now++) {
                $workers += $scale->change(60.0, $workers, $now);
            }
            $this->assertSame($most, $workers, 'and not above');
            $this->assertLessThanOrEqual($within, $now);
        }
    }

    /** @return list<array{float, int, float, int}> */
    private static function calm(int $workers, int $from, int $to): array
    {
        return array_map(static fn (int $now): array => [0.0, $workers, $now, 0], range($from, $to));
    }
}
