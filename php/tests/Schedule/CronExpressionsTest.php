<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Schedule;

use DateTimeImmutable;
use DateTimeZone;
use DelayQueue\Schedule\Cron;
use PHPUnit\Framework\TestCase;
use ValueError;

/** The meanings of cron expressions, and those that are refused. CronTest has the changes of clocks. */
final class CronExpressionsTest extends TestCase
{
    /**
     * @dataProvider meanings
     *
     * @param list<string> $moments
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('meanings')]
    public function testAnExpressionMeansTheseMoments(string $expression, array $moments): void
    {
        $moment = new DateTimeImmutable('2027-01-01 00:00 UTC');
        $cron = Cron::parse($expression);
        foreach ($moments as $number => $expected) {
            $moment = $cron->next($moment);
            $this->assertSame($expected, $moment?->format('D Y-m-d H:i'), "moment $number");
        }
    }

    /** @return array<string, array{string, list<string>}> */
    public static function meanings(): array
    {
        $sundays = ['Sun 2027-01-03 00:00', 'Sun 2027-01-10 00:00'];

        return [
            'a list in any order' => [
                '30,10 * * * *',
                ['Fri 2027-01-01 00:10', 'Fri 2027-01-01 00:30', 'Fri 2027-01-01 01:10'],
            ],
            'hours in any order' => [
                '0 18,9 * * *',
                ['Fri 2027-01-01 09:00', 'Fri 2027-01-01 18:00', 'Sat 2027-01-02 09:00'],
            ],
            'leading zeros' => ['05 09 01 02 *', ['Mon 2027-02-01 09:05']],
            'a step within a range' => [
                '10-30/10 0 * * *',
                ['Fri 2027-01-01 00:10', 'Fri 2027-01-01 00:20', 'Fri 2027-01-01 00:30', 'Sat 2027-01-02 00:10'],
            ],
            'a step as long as the field' => ['*/60 */24 * * *', ['Sat 2027-01-02 00:00', 'Sun 2027-01-03 00:00']],
            'a range over midnight' => [
                '0 22-1 * * *',
                ['Fri 2027-01-01 01:00', 'Fri 2027-01-01 22:00', 'Fri 2027-01-01 23:00', 'Sat 2027-01-02 00:00'],
            ],
            'months over the new year' => [
                '0 0 1 NOV-feb *',
                ['Mon 2027-02-01 00:00', 'Mon 2027-11-01 00:00', 'Wed 2027-12-01 00:00', 'Sat 2028-01-01 00:00'],
            ],
            'a step of named months' => ['0 0 1 JAN-DEC/6 *', ['Thu 2027-07-01 00:00', 'Sat 2028-01-01 00:00']],
            'Sunday as 0' => ['0 0 * * 0', $sundays],
            'Sunday as 7' => ['0 0 * * 7', $sundays],
            'Sunday as 7-7' => ['0 0 * * 7-7', $sundays],
            'Sunday by its name' => ['0 0 * * sun', $sundays],
            '@weekly' => ['@Weekly', $sundays],
            '@hourly' => ['@hourly', ['Fri 2027-01-01 01:00', 'Fri 2027-01-01 02:00']],
            'a week that begins on Sunday' => [
                '0 0 * * SUN-THU',
                [
                    'Sun 2027-01-03 00:00', 'Mon 2027-01-04 00:00', 'Tue 2027-01-05 00:00', 'Wed 2027-01-06 00:00',
                    'Thu 2027-01-07 00:00', 'Sun 2027-01-10 00:00',
                ],
            ],
            'weekdays over Sunday' => [
                '0 0 * * FRI-MON',
                ['Sat 2027-01-02 00:00', 'Sun 2027-01-03 00:00', 'Mon 2027-01-04 00:00', 'Fri 2027-01-08 00:00'],
            ],
            'up to Sunday as 7' => [
                '0 0 * * 6-7',
                ['Sat 2027-01-02 00:00', 'Sun 2027-01-03 00:00', 'Sat 2027-01-09 00:00'],
            ],
            'each weekday' => ['0 0 * * 0-7', ['Sat 2027-01-02 00:00', 'Sun 2027-01-03 00:00', 'Mon 2027-01-04 00:00']],
            'named weekdays by a step' => [
                '0 0 * * MON-FRI/2',
                ['Mon 2027-01-04 00:00', 'Wed 2027-01-06 00:00', 'Fri 2027-01-08 00:00'],
            ],
            'a mixed list of weekdays' => [
                '0 0 * * 2,SUN,4-5',
                ['Sun 2027-01-03 00:00', 'Tue 2027-01-05 00:00', 'Thu 2027-01-07 00:00', 'Fri 2027-01-08 00:00'],
            ],
            'the last Friday' => ['0 0 ? * FRIL', ['Fri 2027-01-29 00:00', 'Fri 2027-02-26 00:00']],
            'the second Monday and the last Sunday' => [
                '0 0 * * MON#2,7L',
                ['Mon 2027-01-11 00:00', 'Sun 2027-01-31 00:00', 'Mon 2027-02-08 00:00'],
            ],
            'a fifth Monday of February' => [
                '0 0 * 2 1#5',
                ['Mon 2044-02-29 00:00', 'Mon 2072-02-29 00:00', 'Mon 2112-02-29 00:00'],
            ],
            'its hours' => ['0 */12 * 2 1#5', ['Mon 2044-02-29 00:00', 'Mon 2044-02-29 12:00', 'Mon 2072-02-29 00:00']],
            'the weekday nearest to the first' => [
                '0 0 1W * *',
                ['Mon 2027-02-01 00:00', 'Mon 2027-03-01 00:00', 'Thu 2027-04-01 00:00', 'Mon 2027-05-03 00:00'],
            ],
            'the weekday nearest to the 28th' => ['0 0 28W 2,11 *', ['Fri 2027-02-26 00:00', 'Mon 2027-11-29 00:00']],
            'a day or a weekday' => [
                '0 0 */10 * MON',
                ['Mon 2027-01-04 00:00', 'Mon 2027-01-11 00:00', 'Mon 2027-01-18 00:00', 'Thu 2027-01-21 00:00'],
            ],
            'a step of one is no day' => ['0 0 */1 * MON', ['Mon 2027-01-04 00:00', 'Mon 2027-01-11 00:00']],
            'blanks' => [" 0\t9  *\t* * ", ['Fri 2027-01-01 09:00', 'Sat 2027-01-02 09:00']],
        ];
    }

    /** @dataProvider meaningless */
    #[\PHPUnit\Framework\Attributes\DataProvider('meaningless')]
    public function testAnExpressionThatMeansNothingIsRefusedWithTheReason(string $expression, string $reason): void
    {
        $this->expectException(ValueError::class);
        $this->expectExceptionMessage('Cron::parse(): Argument #1 ($line) must be a line of cron, "');
        $this->expectExceptionMessageMatches('/" is none: ' . preg_quote($reason, '/') . '/');
        Cron::parse($expression);
    }

    /** @return iterable<string, array{string, string}> */
    public static function meaningless(): iterable
    {
        $lines = [
            '*/-5 * * * *' => '"*/-5" is no minute',
            '*/0 * * * *' => 'the step in */0 must be 1 to 60',
            '*/70 * * * *' => 'the step in */70 must be 1 to 60',
            '*/61 * * * *' => 'the step in */61',
            '0 */25 * * *' => 'the step in */25 must be 1 to 24',
            '0 0 */40 * *' => 'the step in */40 must be 1 to 31',
            '0 0 * */13 *' => 'the step in */13 must be 1 to 12',
            '0 0 * * */8' => 'the step in */8 must be 1 to 7',
            '10-20/30 * * * *' => 'the step in 10-20/30 must be 1 to 11',
            '*/1.5 * * * *' => '"*/1.5" is no minute',
            '*/ * * * *' => '"*/" is no minute',
            '5/15 * * * *' => 'a step needs * or a range: 5/15',
            '+5 * * * *' => '"+5" is no minute',
            '-5 * * * *' => '"-5" is no minute',
            '1e1 * * * *' => '"1e1" is no minute',
            '0x1 * * * *' => '"0x1" is no minute',
            '1.0 * * * *' => '"1.0" is no minute',
            '007 * * * *' => '"007" is no minute',
            '60 * * * *' => '"60" is no minute: it must be 0 to 59',
            '5-60 * * * *' => '"60" is no minute',
            '5- * * * *' => '"5-" is no minute',
            '1-2-3 * * * *' => '"1-2-3" is no minute',
            '*-5 * * * *' => '"*-5" is no minute',
            '? * * * *' => '"?" is no minute',
            'L * * * *' => '"L" is no minute',
            '1,,2 * * * *' => 'an item is missing in the minute',
            '1, * * * *' => 'an item is missing',
            '0 24 * * *' => '"24" is no hour: it must be 0 to 23',
            '0 0 0 * *' => '"0" is no day of the month: it must be 1 to 31',
            '0 0 32 * *' => '"32" is no day of the month',
            '0 0 LW * *' => '"LW" is no day of the month',
            '0 0 WL * *' => '"WL" is no day of the month',
            '0 0 31W * *' => 'W needs a day that each month has, 1 to 28: 31W',
            '0 0 0W * *' => 'W needs a day',
            '0 0 1-5W * *' => '"5W" is no day of the month',
            '0 0 1,15W * *' => '"15W" is no day',
            '0 0 L-3 * *' => '"L" is no day',
            '0 0 1,L * *' => '"L" is no day',
            '0 0 * 0 *' => '"0" is no month: it must be 1 to 12 or a name such as',
            '0 0 * 13 *' => '"13" is no month',
            '0 0 * JANUARY *' => '"JANUARY" is no month',
            '0 0 * MON *' => '"MON" is no month',
            '0 0 * ? *' => '"?" is no month',
            '0 0 * * 8' => '"8" is no weekday: it must be 0 to 7 or a name such as MON',
            '0 0 * * 1-5#2' => '"1-5#2" is no weekday',
            '0 0 * * 1#6' => '"1#6" is no weekday',
            '0 0 * * 1#0' => '"1#0"',
            '0 0 * * #2' => '"#2"',
            '0 0 * * 1#2#3' => '"1#2#3"',
            '0 0 * * L' => '"L" is no weekday',
            '0 0 * * 8L' => '"8" is no weekday',
            '0 0 * * 5LL' => '"5LL"',
            '0 0 * * */2L' => '"*/2L" is no weekday',
            '* * * *' => 'it needs five fields: minute, hour, day of the month, month, weekday',
            '0 0 * * * 2030' => 'it needs five fields',
            '@reboot' => 'names are @yearly, ',
            "0 0 * * \u{0661}" => '"',
            "\xFF * * * *" => '"',
        ];
        foreach ($lines as $expression => $reason) {
            yield (string) json_encode($expression, JSON_INVALID_UTF8_SUBSTITUTE) => [(string) $expression, $reason];
        }
        yield 'a list without an end' => ['0' . str_repeat(',0', 100_000) . ' * * * *', 'it is too long'];
    }

    /** @dataProvider farMoments */
    #[\PHPUnit\Framework\Attributes\DataProvider('farMoments')]
    public function testNothingComesAfterTheYear9999(string $after, ?string $expected): void
    {
        foreach (['0 0,9,18 * * *', '0 */9 * * *'] as $expression) {
            $cron = Cron::parse($expression, 'Europe/Berlin');
            $this->assertSame($expected, $cron->next(new DateTimeImmutable($after))?->format('Y-m-d H:i'));
        }
    }

    /** @return list<array{string, ?string}> */
    public static function farMoments(): array
    {
        return [
            ['2400-02-29 12:00', '2400-02-29 18:00'],
            ['9999-12-30 20:00', '9999-12-31 00:00'],
            ['@253402300800', null],
            ['@9223372036854775807', null],
            ['@-9223372036854775808', null],
        ];
    }

    /** @dataProvider zones */
    #[\PHPUnit\Framework\Attributes\DataProvider('zones')]
    public function testNineOClockIsThatOfTheZone(string $zone, ?string $winter, ?string $summer): void
    {
        if ($winter === null) {
            $this->expectException(ValueError::class);
            $this->expectExceptionMessage(
                'Argument #2 ($zone) must be a time zone such as "Europe/Berlin", or an offset',
            );
        }
        $cron = Cron::parse('0 9 * * *', $zone);
        $utc = new DateTimeZone('UTC');
        $at = static fn (string $day): ?string =>
            $cron->next(new DateTimeImmutable($day))?->setTimezone($utc)->format('H:i');
        $this->assertSame($winter, $at('2027-01-15 21:00 UTC'));
        $this->assertSame($summer, $at('2027-07-15 21:00 UTC'));
    }

    /** @return iterable<string, array{string, ?string, ?string}> times in UTC; null: it is refused */
    public static function zones(): iterable
    {
        $zones = [
            'Europe/Berlin' => ['08:00', '07:00'], 'europe/berlin' => ['08:00', '07:00'],
            'CET' => ['08:00', '07:00'], 'met' => ['08:00', '07:00'],
            'WET' => ['09:00', '08:00'], 'EET' => ['07:00', '06:00'], 'EST5EDT' => ['14:00', '13:00'],
            'GB' => ['09:00', '08:00'],
        ];
        foreach ($zones as $zone => [$winter, $summer]) {
            yield $zone => [$zone, $winter, $summer];
        }
        $offsets = [
            'EST' => '14:00', 'UTC' => '09:00', 'GMT' => '09:00', 'Z' => '09:00', 'Etc/GMT+2' => '11:00',
            '+02:00' => '07:00', '-0330' => '12:30', '+14' => '19:00',
        ];
        foreach ($offsets as $zone => $time) {
            yield $zone => [$zone, $time, $time];
        }
        $abbreviations = ['CEST', 'BST', 'EDT', 'PST', 'IST', 'A', 'GMT+2', 'UTC+2'];
        $others = ['+99:00', '+15:00', '+02:00:30', '', ' ', 'Mars/Phobos', "Europe/Berlin\0"];
        foreach ([...$abbreviations, ...$others] as $zone) {
            yield "'$zone'" => [$zone, null, null];
        }
    }
}
