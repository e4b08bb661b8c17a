<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Schedule;

use DateTimeImmutable;
use DateTimeZone;
use DelayQueue\Schedule\Cron;
use DelayQueue\Schedule\Every;
use PHPUnit\Framework\TestCase;
use ValueError;

final class CronTest extends TestCase
{
    /**
     * @dataProvider moments
     *
     * @param list<string> $moments
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('moments')]
    public function testMomentsFollowTheClocksOfTheZone(string $line, string $zone, string $after, array $moments): void
    {
        $cron = Cron::parse($line, $zone);
        $moment = $start = new DateTimeImmutable($after, new DateTimeZone($zone));
        $found = [];
        foreach ($moments as $ignored) {
            $moment = $cron->next($moment);
            $found[] = $moment?->format('Y-m-d H:i O');
        }
        $this->assertSame($moments, $found);

        // A new object that is asked in the middle, in another zone, says the same; and what comes last is what comes next.
        foreach ($moments as $number => $expected) {
            $asked = $number === 0 ? $start : (new DateTimeImmutable($moments[$number - 1]))->setTimezone(new DateTimeZone('Asia/Tokyo'))->modify('+500 ms');
            $this->assertSame($expected, Cron::parse($line, $zone)->next($asked)?->format('Y-m-d H:i O'), 'asked alone');
            $this->assertSame($expected, Cron::parse($line, $zone)->last(new DateTimeImmutable($expected))?->format('Y-m-d H:i O'), 'last, at the moment');
            $next = new DateTimeImmutable($moments[$number + 1] ?? $expected . ' +1 second');
            $this->assertSame($expected, Cron::parse($line, $zone)->last($next->modify('-1 second'))?->format('Y-m-d H:i O'), 'last, before the next one');
        }
    }

    /** @return array<string, array{string, string, string, list<string>}> */
    public static function moments(): array
    {
        $berlin = 'Europe/Berlin';
        $island = 'Australia/Lord_Howe';

        return [
            'office days' => ['0 9 * * MON-FRI', $berlin, '2026-11-26 10:00', ['2026-11-27 09:00 +0100', '2026-11-30 09:00 +0100']],
            'UTC' => ['*/15 * * * *', 'UTC', '2026-11-24 08:59:59', ['2026-11-24 09:00 +0000', '2026-11-24 09:15 +0000']],
            'no whole day is lost when clocks go forward' => ['0 9 * * *', 'America/New_York', '2026-03-06 12:00',
                ['2026-03-07 09:00 -0500', '2026-03-08 09:00 -0400', '2026-03-09 09:00 -0400']],
            'a doubled moment in New York: the first' => ['30 1 * * *', 'America/New_York', '2026-10-31 12:00', ['2026-11-01 01:30 -0400', '2026-11-02 01:30 -0500']],
            'every hour in New York: both of the doubled' => ['0 * * * *', 'America/New_York', '2026-11-01 00:30',
                ['2026-11-01 01:00 -0400', '2026-11-01 01:00 -0500', '2026-11-01 02:00 -0500']],
            'a moment in a gap in New York: after the gap' => ['30 2 * * *', 'America/New_York', '2026-03-07 12:00', ['2026-03-08 03:00 -0400', '2026-03-09 02:30 -0400']],
            'a moment in a gap: after the gap' => ['30 2 * * *', $berlin, '2026-03-28 00:00', ['2026-03-28 02:30 +0100', '2026-03-29 03:00 +0200', '2026-03-30 02:30 +0200']],
            'two moments in a gap: once' => ['0,30 2 * * *', $berlin, '2026-03-28 12:00', ['2026-03-29 03:00 +0200', '2026-03-30 02:00 +0200', '2026-03-30 02:30 +0200']],
            'a moment in a gap, and one at its end: once' => ['0 2,3 * * *', $berlin, '2026-03-28 12:00', ['2026-03-29 03:00 +0200', '2026-03-30 02:00 +0200']],
            'a doubled moment: the first' => ['30 2 * * *', $berlin, '2026-10-24 12:00', ['2026-10-25 02:30 +0200', '2026-10-26 02:30 +0100']],
            'asked in the second one of a doubled hour' => ['30 2 * * *', $berlin, '2026-10-25 01:10 UTC', ['2026-10-26 02:30 +0100']],
            'a range of hours is fixed' => ['0 1-3 * * *', $berlin, '2026-10-24 12:00', ['2026-10-25 01:00 +0200', '2026-10-25 02:00 +0200', '2026-10-25 03:00 +0100']],
            'every hour: both of the doubled' => ['30 * * * *', $berlin, '2026-10-25 01:00',
                ['2026-10-25 01:30 +0200', '2026-10-25 02:30 +0200', '2026-10-25 02:30 +0100', '2026-10-25 03:30 +0100']],
            'every hour: none that does not exist' => ['30 * * * *', $berlin, '2026-03-29 01:00', ['2026-03-29 01:30 +0100', '2026-03-29 03:30 +0200']],
            'a step of hours follows the time' => ['0 */2 * * *', $berlin, '2026-10-25 00:00', ['2026-10-25 02:00 +0200', '2026-10-25 02:00 +0100', '2026-10-25 04:00 +0100']],
            'a step of hours has no gap to fill' => ['0 */2 * * *', $berlin, '2026-03-29 00:00', ['2026-03-29 04:00 +0200', '2026-03-29 06:00 +0200']],
            'half an hour back' => ['45 1 * * *', $island, '2026-04-04 12:00', ['2026-04-05 01:45 +1100', '2026-04-06 01:45 +1030']],
            'half an hour back, by steps' => ['*/20 * * * *', $island, '2026-04-05 01:20',
                ['2026-04-05 01:40 +1100', '2026-04-05 01:40 +1030', '2026-04-05 02:00 +1030']],
            'half an hour forward' => ['15 2 * * *', $island, '2026-10-03 12:00', ['2026-10-04 02:30 +1100', '2026-10-05 02:15 +1100']],
            'half an hour forward, by steps' => ['*/20 * * * *', $island, '2026-10-04 01:30', ['2026-10-04 01:40 +1030', '2026-10-04 02:40 +1100']],
            'a day that does not exist' => ['0 9 * * *', 'Pacific/Apia', '2011-12-28 12:00', ['2011-12-29 09:00 -1000', '2011-12-31 09:00 +1400']],
            'that day, by steps' => ['0 */12 * * *', 'Pacific/Apia', '2011-12-29 00:00', ['2011-12-29 12:00 -1000', '2011-12-31 00:00 +1400']],
            'a gap that ends at midnight' => ['30 23 * * *', 'America/Nuuk', '2026-03-27 12:00', ['2026-03-27 23:30 -0200', '2026-03-29 00:00 -0100', '2026-03-29 23:30 -0100']],
            'a gap at midnight' => ['15 0 * * *', 'Africa/Cairo', '2026-04-23 12:00', ['2026-04-24 01:00 +0300', '2026-04-25 00:15 +0300']],
            'a day in four years' => ['0 0 29 2 *', $berlin, '2026-03-01 00:00', ['2028-02-29 00:00 +0100', '2032-02-29 00:00 +0100']],
            'its hours' => ['0 * 29 2 *', $berlin, '2026-07-01 00:00', ['2028-02-29 00:00 +0100', '2028-02-29 01:00 +0100']],
            'around 2100' => ['0 0 29 2 *', 'UTC', '2096-03-01 00:00', ['2104-02-29 00:00 +0000']],
            'a day or a weekday' => ['0 9 31 2 MON', 'UTC', '2026-01-30 00:00', ['2026-02-02 09:00 +0000', '2026-02-09 09:00 +0000']],
            'the last day of a month, any weekday' => ['0 9 L * ?', 'UTC', '2028-02-01 00:00', ['2028-02-29 09:00 +0000', '2028-03-31 09:00 +0000']],
            'an offset for a zone' => ['@daily', '+05:30', '2026-11-24 00:00', ['2026-11-25 00:00 +0530', '2026-11-26 00:00 +0530']],
        ];
    }

    /** @dataProvider mistakes */
    #[\PHPUnit\Framework\Attributes\DataProvider('mistakes')]
    public function testAMistakeIsAValueError(string $line, string $zone, string $message): void
    {
        $this->expectException(ValueError::class);
        $this->expectExceptionMessage("DelayQueue\\Schedule\\Cron::parse(): Argument $message");
        Cron::parse($line, $zone);
    }

    /** @return array<string, array{string, string, string}> */
    public static function mistakes(): array
    {
        return [
            'never comes' => ['0 0 31 2 *', 'UTC', '#1 ($line) must have a moment, "0 0 31 2 *" never comes'],
            'never comes, any hour' => ['* * 30 2 *', 'Europe/Berlin', '#1 ($line) must have a moment'],
            'neither the day nor the weekday comes' => ['0 0 31 2 ?', 'UTC', '#1 ($line) must have a moment'],
            'no cron' => ['tomorrow', 'UTC', '#1 ($line) must be a line of cron, "tomorrow" is none'],
            'nothing' => ['', 'UTC', '#1 ($line) must be a line of cron'],
            'no such minute' => ['60 * * * *', 'UTC', '#1 ($line) must be a line of cron'],
            'six fields' => ['0 0 9 * * *', 'UTC', '#1 ($line) must be a line of cron'],
            'no zone' => [
                '0 9 * * *',
                'Mars/Olympus',
                '#2 ($zone) must be a time zone such as "Europe/Berlin", or an offset of at most 14 hours such as '
                    . '"+01:00", "Mars/Olympus" given',
            ],
            'bytes for a zone' => ['0 9 * * *', "a\0b", '#2 ($zone) must be a time zone'],
        ];
    }

    public function testEveryCountsFromWhereItIsAsked(): void
    {
        $this->assertSame('2026-11-24T09:01:30.250', Every::interval('90s')->next(new DateTimeImmutable('2026-11-24 10:00:00.250 +01:00'))->format('Y-m-d\TH:i:s.v'));
        $from = Every::interval('90s')->from((float) (new DateTimeImmutable('2026-11-24 09:00:00.250 UTC'))->format('U.u'));
        foreach (['09:00:00' => '09:01:30.250', '09:01:30.249' => '09:01:30.250', '09:01:30.250' => '09:03:00.250', '09:10:00' => '09:10:30.250'] as $after => $next) {
            $this->assertSame($next, $from->next(new DateTimeImmutable("2026-11-24 $after UTC"))->format('H:i:s.v'));
        }
        $this->assertNull($from->last(new DateTimeImmutable('2026-11-24 09:01:30.249 UTC')));
        $this->assertSame('09:04:30.250', $from->last(new DateTimeImmutable('2026-11-24 09:05:59 UTC'))?->format('H:i:s.v'));
    }

    /** @dataProvider intervals */
    #[\PHPUnit\Framework\Attributes\DataProvider('intervals')]
    public function testAnIntervalIsADurationOfASecondOrMore(int|float|string $interval, string $message): void
    {
        $this->expectException(ValueError::class);
        $this->expectExceptionMessage("DelayQueue\\Schedule\\Every::interval(): Argument #1 (\$interval) must be $message");
        Every::interval($interval);
    }

    /** @return array<string, array{int|float|string, string}> */
    public static function intervals(): array
    {
        return [
            'short' => ['999ms', 'at least 1 second'],
            'nothing' => [0, 'at least 1 second'],
            'negative' => [-5, 'greater than or equal to 0'],
            'no number' => [NAN, ''],
            'no duration' => ['often', 'a number of seconds or a duration'],
        ];
    }
}
