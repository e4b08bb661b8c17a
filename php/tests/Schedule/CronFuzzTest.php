<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Schedule;

use DateTimeImmutable;
use DelayQueue\Schedule\Cron;
use PHPUnit\Framework\TestCase;
use ValueError;

/** Random cron expressions: each is refused, or has the moments that a walk over the days finds, within little work. */
final class CronFuzzTest extends TestCase
{
    /** Microseconds of processor time, for which it does not matter what else the machine does. */
    private const MOST_TIME = 50_000;

    private const MONTHS = [1 => 'JAN', 'FEB', 'mar', 'APR', 'May', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];

    private const WEEKDAYS = ['SUN', 'MON', 'TUE', 'wed', 'THU', 'Fri', 'SAT', '7'];

    public function testAFewThousandExpressions(): void
    {
        $this->tryExpressions(2_000, 1);
    }

    /** @group verify */
    #[\PHPUnit\Framework\Attributes\Group('verify')]
    public function testManyExpressions(): void
    {
        $this->tryExpressions(100_000, 2);
    }

    private function tryExpressions(int $count, int $seed): void
    {
        mt_srand($seed);
        $computed = 0;
        for ($number = 0; $number < $count; $number++) {
            [$text, $matches] = self::sensible();
            if ($number % 2 === 1) {
                [$text, $matches] = [self::damaged($text), null];
            }
            $after = new DateTimeImmutable('@' . mt_rand(1_700_000_000, 4_300_000_000));
            $zone = ['UTC', 'Europe/Berlin', '+05:30'][$number % 3];
            $this->momentsOf($text, $zone, $after);
            if ($matches !== null) {
                $moments = $this->momentsOf($text, 'UTC', $after);
                $expected = self::walk($matches, $after);
                $this->assertSame($expected, $moments, "seed $seed: $text after {$after->format(DATE_ATOM)}");
                $computed += count($moments);
            }
        }
        $this->assertGreaterThan($count / 2, $computed);
    }

    /** @return list<string> the next two; none: it is refused */
    private function momentsOf(string $text, string $zone, DateTimeImmutable $after): array
    {
        $before = self::timeUsed();
        $moments = [];
        try {
            $cron = Cron::parse($text, $zone);
            $first = $cron->next($after);
            $second = $first === null ? null : $cron->next($first);
            $format = static fn (DateTimeImmutable $moment): string => $moment->format('Y-m-d H:i');
            $moments = array_map($format, array_filter([$first, $second]));
        } catch (ValueError $refused) {
            $reason = '/ must be a line of cron, ".*" is none: .|must have a moment, ".*" never comes/s';
            $this->assertMatchesRegularExpression($reason, $refused->getMessage());
        }
        $used = self::timeUsed() - $before;
        $this->assertLessThan(3 * self::MOST_TIME, $used, "parse() and two moments of '$text' $zone");

        return $moments;
    }

    private static function timeUsed(): int
    {
        $used = getrusage();

        $seconds = $used['ru_utime.tv_sec'] + $used['ru_stime.tv_sec'];

        return 1_000_000 * $seconds + $used['ru_utime.tv_usec'] + $used['ru_stime.tv_usec'];
    }

    /** @return array{string, array<string, mixed>} an expression, and what it means */
    private static function sensible(): array
    {
        [$minute, $minutes] = self::list(0, 59);
        [$hour, $hours] = self::list(0, 23);
        [$month, $months] = self::list(1, 12, self::MONTHS);
        [$day, $days] = match (mt_rand(0, 6)) {
            0 => ['L', static fn (DateTimeImmutable $date): bool => $date->format('j') === $date->format('t')],
            1 => self::nearest(mt_rand(1, 28)),
            2, 3 => self::list(1, 31),
            default => [mt_rand(0, 1) === 0 ? '*' : '?', null],
        };
        $weekday = mt_rand(0, 7);
        [$name, $nth] = [self::WEEKDAYS[$weekday], mt_rand(1, 5)];
        $isWeekday = static fn (DateTimeImmutable $date): bool => (int) $date->format('w') === $weekday % 7;
        [$name, $weekdays] = match (mt_rand(0, 6)) {
            0 => ["{$name}L", static function (DateTimeImmutable $date) use ($isWeekday): bool {
                return $isWeekday($date) && $date->format('j') > $date->format('t') - 7;
            }],
            1 => ["$name#$nth", static function (DateTimeImmutable $date) use ($isWeekday, $nth): bool {
                return $isWeekday($date) && intdiv((int) $date->format('j') - 1, 7) + 1 === $nth;
            }],
            2, 3 => self::list(0, 6, self::WEEKDAYS),
            default => ['*', null],
        };
        $isOf = static fn (array|callable|null $set, string $format): ?callable => is_array($set)
            ? static fn (DateTimeImmutable $date): bool => in_array((int) $date->format($format), $set, true) : $set;

        $matches = compact('minutes', 'hours', 'months');
        $matches += ['days' => $isOf($days, 'j'), 'weekdays' => $isOf($weekdays, 'w')];

        return ["$minute $hour $day $month $name", $matches];
    }

    /** @return array{string, callable(DateTimeImmutable): bool} */
    private static function nearest(int $day): array
    {
        return [$day . 'W', static function (DateTimeImmutable $date) use ($day): bool {
            $wanted = $date->setDate((int) $date->format('Y'), (int) $date->format('n'), $day);
            $move = match ($wanted->format('D')) {
                'Sat' => $day === 1 ? 2 : -1,
                'Sun' => $day === (int) $wanted->format('t') ? -2 : 1,
                default => 0,
            };

            return (int) $date->format('j') === $day + $move;
        }];
    }

    /**
     * @param array<int, string> $names
     *
     * @return array{string, list<int>|null} null: all, by a *
     */
    private static function list(int $least, int $greatest, array $names = []): array
    {
        [$items, $values] = [[], []];
        $word = static function (int $value) use ($names): string {
            $number = sprintf(mt_rand(0, 3) === 0 ? '%02d' : '%d', $value);

            return mt_rand(0, 1) === 0 ? $names[$value] ?? $number : $number;
        };
        for ($left = mt_rand(1, 3); $left > 0; $left--) {
            [$from, $to] = [mt_rand($least, $greatest), mt_rand($least, $greatest)];
            if (mt_rand(0, 1) === 0) {
                [$items[], $values[]] = [$word($from), $from];
                continue;
            }
            $isStar = mt_rand(0, 2) === 0;
            [$from, $to] = $isStar ? [$least, $greatest] : [$from, $to];
            for ($round = [$from]; end($round) !== $to;) {
                $round[] = end($round) === $greatest ? $least : end($round) + 1;
            }
            $step = mt_rand(0, 2) === 0 || $isStar ? mt_rand(2, max(2, count($round))) : 1;
            $step = min($step, count($round));
            $items[] = ($isStar ? '*' : $word($from) . '-' . $word($to)) . ($step > 1 ? "/$step" : '');
            foreach (array_chunk($round, $step) as [$value]) {
                $values[] = $value;
            }
        }
        if (mt_rand(0, 4) === 0) {
            return ['*', null];
        }

        return [implode(',', $items), array_values(array_unique($values))];
    }

    /**
     * @param array<string, mixed> $matches
     *
     * @return list<string>
     */
    private static function walk(array $matches, DateTimeImmutable $after): array
    {
        $moments = [];
        [$hours, $minutes] = [$matches['hours'] ?? range(0, 23), $matches['minutes'] ?? range(0, 59)];
        sort($hours);
        sort($minutes);
        $date = $after->setTime(0, 0);
        for ($day = 0; $day < 82 * 366; $day++, $date = $date->modify('+1 day')) {
            $isMonth = in_array((int) $date->format('n'), $matches['months'] ?? range(1, 12), true);
            if (!$isMonth || !self::isDay($matches['days'], $matches['weekdays'], $date)) {
                continue;
            }
            foreach ($hours as $hour) {
                foreach ($minutes as $minute) {
                    $moment = $date->setTime($hour, $minute);
                    $moment > $after && $moments[] = $moment->format('Y-m-d H:i');
                    if (count($moments) === 2) {
                        return $moments;
                    }
                }
            }
        }

        return $moments;
    }

    private static function isDay(?callable $days, ?callable $weekdays, DateTimeImmutable $date): bool
    {
        return match (true) {
            $days === null => $weekdays === null || $weekdays($date),
            $weekdays === null => $days($date),
            default => $days($date) || $weekdays($date),
        };
    }

    private static function damaged(string $text): string
    {
        $bytes = "0123456789*/,-+.#?LW eEx@\0\nMONJAFRI";
        for ($times = mt_rand(1, 4); $times > 0; $times--) {
            $byte = $bytes[mt_rand(0, strlen($bytes) - 1)];
            $text = substr_replace($text, $byte, mt_rand(0, strlen($text)), mt_rand(0, 2));
        }

        return $text;
    }
}
