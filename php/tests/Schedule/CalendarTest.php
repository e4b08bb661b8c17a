<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Schedule;

use Closure;
use DateTimeImmutable;
use DateTimeZone;
use DelayQueue\Schedule\Calendar;
use DelayQueue\Tests\OnAnyStore;
use PHPUnit\Framework\TestCase;
use ValueError;

final class CalendarTest extends TestCase
{
    use OnAnyStore;

    /** @return array<string, array{Calendar, string, string}> calendar, moment, when it is open next */
    public static function openings(): array
    {
        $office = Calendar::of('Europe/Berlin')->hours('MON-FRI 09:00-17:30')->hours('SAT 10:00-14:00');
        $night = Calendar::of('Europe/Berlin')->hours('FRI,SAT 22:00-06:00');
        $quiet = Calendar::of('Europe/Berlin')->except('22:00-07:00');
        $early = Calendar::of('Europe/Berlin')->hours('02:30-05:00');
        $short = Calendar::of('Europe/Berlin')->hours('02:15-02:45');
        $holidays = $office->without(['2030-12-25', '2030-12-26'], new DateTimeImmutable('2030-12-27 00:00', new DateTimeZone('Asia/Tokyo')), '2030-12-28');

        return [
            'open now, to the microsecond' => [$office, '2030-03-11 09:00:00.123456 Europe/Berlin', '2030-03-11T09:00:00.123456+01:00'],
            'the last moment' => [$office, '2030-03-11 17:29:59.999999 Europe/Berlin', '2030-03-11T17:29:59.999999+01:00'],
            'closing time is closed' => [$office, '2030-03-11 17:30 Europe/Berlin', '2030-03-12T09:00:00.000000+01:00'],
            'a fraction of a second before it opens' => [$office, '2030-03-11 08:59:59.5 Europe/Berlin', '2030-03-11T09:00:00.000000+01:00'],
            'hours add up' => [$office, '2030-03-15 18:00 Europe/Berlin', '2030-03-16T10:00:00.000000+01:00'],
            'over Sunday' => [$office, '2030-03-16 14:00 Europe/Berlin', '2030-03-18T09:00:00.000000+01:00'],
            'over the change of clocks' => [$office, '2030-03-30 14:00 Europe/Berlin', '2030-04-01T09:00:00.000000+02:00'],
            'a moment of another zone' => [$office, '2030-03-11 03:00 America/New_York', '2030-03-11T09:00:00.000000+01:00'],
            'over holidays of all forms, a date in another zone, and a Sunday' => [
                $holidays, '2030-12-24 17:30 Europe/Berlin', '2030-12-30T09:00:00.000000+01:00',
            ],
            'in a night' => [$night, '2030-03-16 05:59 Europe/Berlin', '2030-03-16T05:59:00.000000+01:00'],
            'before a night' => [$night, '2030-03-16 06:00 Europe/Berlin', '2030-03-16T22:00:00.000000+01:00'],
            'the night that Sunday does not begin' => [$night, '2030-03-17 22:00 Europe/Berlin', '2030-03-22T22:00:00.000000+01:00'],
            'a holiday ends a night at midnight' => [$night->without('2030-03-16'), '2030-03-16 01:00 Europe/Berlin', '2030-03-17T00:00:00.000000+01:00'],
            'quiet hours' => [$quiet, '2030-03-11 23:00 Europe/Berlin', '2030-03-12T07:00:00.000000+01:00'],
            'loud hours' => [$quiet, '2030-03-11 07:00 Europe/Berlin', '2030-03-11T07:00:00.000000+01:00'],
            'lunch' => [$office->except('MON-FRI 12:00-13:00'), '2030-03-11 12:00 Europe/Berlin', '2030-03-11T13:00:00.000000+01:00'],
            'always open' => [Calendar::of('UTC'), '2030-03-11 12:00 UTC', '2030-03-11T12:00:00.000000+00:00'],
            'the whole day, and no holiday' => [
                Calendar::of('UTC')->hours('0:00-24:00')->without('2030-03-11'), '2030-03-11 12:00 UTC', '2030-03-12T00:00:00.000000+00:00',
            ],
            'days over the end of the week' => [Calendar::of('UTC')->hours('sat-mon 9:00-10:00'), '2030-03-12 00:00 UTC', '2030-03-16T09:00:00.000000+00:00'],
            'an opening that clocks leave out' => [$early, '2030-03-31 01:00 Europe/Berlin', '2030-03-31T03:00:00.000000+02:00'],
            'hours that clocks leave out' => [$short, '2030-03-31 01:00 Europe/Berlin', '2030-04-01T02:15:00.000000+02:00'],
            'hours that clocks show twice: first' => [$short, '2030-10-27 02:14 CEST', '2030-10-27T02:15:00.000000+02:00'],
            'hours that clocks show twice: again' => [$short, '2030-10-27 02:45 CEST', '2030-10-27T02:15:00.000000+01:00'],
            'half an hour of summer time' => [
                Calendar::of('Australia/Lord_Howe')->hours('02:00-03:00'), '2030-10-05 15:00 UTC', '2030-10-06T02:30:00.000000+11:00',
            ],
            'a zone of three quarters' => [Calendar::of('Asia/Kathmandu')->hours('09:00-10:00'), '2030-01-01 00:00 UTC', '2030-01-01T09:00:00.000000+05:45'],
            'a zone that is an offset' => [Calendar::of('+05:45')->hours('09:00-10:00'), '2030-01-01 06:00 UTC', '2030-01-02T09:00:00.000000+05:45'],
            'a day that there was not' => [Calendar::of('Pacific/Apia')->hours('09:00-10:00'), '2011-12-29 21:00 UTC', '2011-12-31T09:00:00.000000+14:00'],
            'clocks that are set back at midnight' => [
                Calendar::of('America/Sao_Paulo')->hours('23:30-23:45'), '2018-02-17 23:45 -02:00', '2018-02-17T23:30:00.000000-03:00',
            ],
            'clocks that go forward at midnight' => [
                Calendar::of('America/Sao_Paulo')->hours('SUN 00:00-02:00'), '2017-10-14 12:00 -03:00', '2017-10-15T01:00:00.000000-02:00',
            ],
            'holidays of months' => [self::closedFor(400), '2030-01-01 12:00 UTC', '2031-02-05T09:00:00.000000+00:00'],
            'far ahead' => [$office, '2150-07-05 12:00 Europe/Berlin', '2150-07-06T09:00:00.000000+02:00'],
        ];
    }

    /** @dataProvider openings */
    #[\PHPUnit\Framework\Attributes\DataProvider('openings')]
    public function testItOpensNextAtItsHours(Calendar $calendar, string $moment, string $next): void
    {
        $moment = new DateTimeImmutable($moment);
        $opens = $calendar->next($moment);
        $this->assertSame($next, $opens->format('Y-m-d\TH:i:s.uP'));
        $this->assertTrue($calendar->isOpen($opens));
        $this->assertSame($opens == $moment, $calendar->isOpen($moment));
    }

    /** Each minute around the changes of clocks, as somebody would find it who looks at a clock each minute. */
    public function testNextIsTheFirstMinuteAtWhichItIsOpen(): void
    {
        $changes = [
            'Europe/Berlin' => ['2030-03-31 00:00 UTC', '2030-10-27 00:00 UTC'],
            'Pacific/Apia' => ['2011-12-30 06:00 UTC'],
            'America/St_Johns' => ['2010-11-07 01:00 UTC'],
            'America/Sao_Paulo' => ['2018-02-18 00:00 UTC', '2017-10-15 00:00 UTC'],
            'Australia/Lord_Howe' => ['2030-04-06 13:00 UTC', '2030-10-05 13:00 UTC'],
        ];
        foreach ($changes as $zone => $starts) {
            $calendar = Calendar::of($zone)->hours('00:00-00:20', '01:10-01:50', '02:10-02:20', '23:15-23:40')->except('01:20-01:30');
            foreach ($starts as $start) {
                $opens = null;
                for ($minute = 8 * 60; $minute >= 0; $minute--) {
                    $moment = new DateTimeImmutable("$start +$minute minutes");
                    $opens = $calendar->isOpen($moment) ? $moment : $opens;
                    if ($opens !== null) {
                        $this->assertEquals($opens, $calendar->next($moment), "$zone, {$moment->format(DATE_ATOM)}");
                    }
                }
                $this->assertNotNull($opens);
            }
        }
    }

    /** @return array<string, array{Calendar, string, string, string}> calendar, time, moment, the moment of that time */
    public static function times(): array
    {
        $berlin = Calendar::of('Europe/Berlin');

        return [
            'today' => [$berlin, '09:00', '2030-03-11 08:59 Europe/Berlin', '2030-03-11T09:00:00+01:00'],
            'after that very moment' => [$berlin, '9:00', '2030-03-11 09:00 Europe/Berlin', '2030-03-12T09:00:00+01:00'],
            'on the next day that is open' => [
                $berlin->hours('MON-FRI 09:00-17:30')->without('2030-03-18'), '09:00', '2030-03-15 12:00 Europe/Berlin', '2030-03-19T09:00:00+01:00',
            ],
            'that clocks leave out' => [$berlin, '02:30', '2030-03-30 12:00 Europe/Berlin', '2030-03-31T03:30:00+02:00'],
            'that clocks show twice' => [$berlin, '02:30', '2030-10-26 12:00 Europe/Berlin', '2030-10-27T02:30:00+02:00'],
            'that clocks show again' => [$berlin, '02:30', '2030-10-27 02:30 CEST', '2030-10-28T02:30:00+01:00'],
            'on a day that there was not' => [Calendar::of('Pacific/Apia'), '09:00', '2011-12-29 12:00 Pacific/Apia', '2011-12-31T09:00:00+14:00'],
            'half an hour that clocks leave out' => [
                Calendar::of('Australia/Lord_Howe'), '02:15', '2030-10-05 12:00 Australia/Lord_Howe', '2030-10-06T02:45:00+11:00',
            ],
        ];
    }

    /** @dataProvider times */
    #[\PHPUnit\Framework\Attributes\DataProvider('times')]
    public function testATimeOfDayComesAsClocksShowIt(Calendar $calendar, string $time, string $after, string $at): void
    {
        $this->assertSame($at, $calendar->at($time, new DateTimeImmutable($after))->format(DATE_ATOM));
    }

    public function testTomorrowIsTheNextDayThere(): void
    {
        $moment = new DateTimeImmutable('2030-03-11 16:00 UTC');
        $this->assertSame('2030-03-12T09:00:00+01:00', Calendar::of('Europe/Berlin')->tomorrow('09:00', $moment)->format(DATE_ATOM));
        $this->assertSame('2030-03-13T09:00:00+09:00', Calendar::of('Asia/Tokyo')->tomorrow('09:00', $moment)->format(DATE_ATOM), 'the 12th has begun there');
        $office = Calendar::of('Europe/Berlin')->hours('MON-FRI 10:00-17:30');
        $this->assertSame('2030-03-12T10:00:00+01:00', $office->tomorrow('09:00', $moment)->format(DATE_ATOM), 'it opens later');
        $this->assertSame('2030-03-12T11:15:00+01:00', $office->tomorrow('11:15', $moment)->format(DATE_ATOM));
        $friday = new DateTimeImmutable('2030-03-15 12:00 UTC');
        $this->assertSame('2030-03-18T10:00:00+01:00', $office->tomorrow('11:15', $friday)->format(DATE_ATOM), 'it is closed');
    }

    public function testWithoutAMomentItIsNowAsTestsMoveIt(): void
    {
        $calendar = Calendar::of('UTC')->hours('MON 09:00-10:00');
        $this->travelTo(new DateTimeImmutable('2030-03-11 09:30 UTC'));
        $this->assertTrue($calendar->isOpen());
        $this->assertSame('2030-03-11 09:30', $calendar->next()->format('Y-m-d H:i'));
        $this->travel('1h');
        $this->assertFalse($calendar->isOpen());
        $this->assertSame('2030-03-18 09:00', $calendar->next()->format('Y-m-d H:i'));
        $this->assertSame('2030-03-18 09:30', $calendar->at('09:30')->format('Y-m-d H:i'));
        $this->assertSame('2030-03-18 09:00', $calendar->tomorrow('11:00')->format('Y-m-d H:i'));
        $this->delayQueue()->push(1, delay: $calendar->next(), id: 'a');
        $this->assertDelayed('a');
    }

    public function testACalendarIsNeverChanged(): void
    {
        $first = Calendar::of('UTC');
        $moment = new DateTimeImmutable('2030-03-11 12:00 UTC');
        foreach ([$first->hours('09:00-10:00'), $first->except('10:00-13:00'), $first->without('2030-03-11')] as $other) {
            $this->assertTrue($first->isOpen($moment));
            $this->assertFalse($other->isOpen($moment));
        }
    }

    /** @return array<string, array{Closure(): mixed, string}> */
    public static function mistakes(): array
    {
        $form = 'must be days and hours such as "MON-FRI 09:00-17:30", "SAT,SUN 10:00-14:00" or "22:00-06:00"';
        $utc = Calendar::of('UTC');
        $mistakes = [
            'no zone' => [static fn () => Calendar::of('Mars/Phobos'), 'of(): Argument #1 ($zone) must be a time zone such as "Europe/Berlin"'],
            'the second of two' => [static fn () => $utc->hours('09:00-10:00', 'MON'), "hours(): Argument #2 $form"],
            'wrong quiet hours' => [static fn () => $utc->except('22-7'), "except(): Argument #1 $form"],
            'no date' => [static fn () => $utc->without('2030-02-30'), 'without(): Argument #1 must be dates such as "2030-12-25"'],
            'no date in a list' => [static fn () => $utc->without('2030-02-28', ['2030-12-25', 'Easter']), 'without(): Argument #2 must be dates'],
            'a number for a date' => [static fn () => $utc->without([20301225]), 'without(): Argument #1 must be dates'],
            'no time' => [static fn () => $utc->at('25:00'), 'at(): Argument #1 ($time) must be a time such as "09:00"'],
            'no time tomorrow' => [static fn () => $utc->tomorrow('nine'), 'tomorrow(): Argument #1 ($time) must be a time such as "09:00"'],
            'never open' => [
                static fn () => $utc->hours('09:00-10:00')->except('08:00-12:00')->without('9999-12-31')->next(),
                'next(): the calendar must have hours at which it is open',
            ],
            'never open tomorrow' => [
                static fn () => $utc->except('00:00-24:00')->tomorrow('09:00'), 'next(): the calendar must have hours at which it is open',
            ],
            'never open at that time' => [
                static fn () => $utc->hours('09:00-10:00')->at('10:00'), 'at(): Argument #1 ($time) must be a time at which the calendar is open',
            ],
        ];
        $wrong = ['', 'MON', 'MON-', '09:00', '09:00-', '09:00-09:00', '24:00-06:00', '09:00-25:00', '09:60-10:00', '9-17', "09:00-10:00\0", '09:00-10:00 '];
        foreach ([...$wrong, 'MON-XYZ 09:00-10:00', 'MON-TUE-WED 09:00-10:00', ',MON 09:00-10:00', 'MON 09:00-10:00 x'] as $hours) {
            $mistakes["hours '$hours'"] = [static fn () => $utc->hours($hours), "hours(): Argument #1 $form"];
        }

        return $mistakes;
    }

    /** @dataProvider mistakes */
    #[\PHPUnit\Framework\Attributes\DataProvider('mistakes')]
    public function testBadInputIsRefused(Closure $mistake, string $message): void
    {
        $this->expectException(ValueError::class);
        $this->expectExceptionMessage(Calendar::class . "::$message");
        $mistake();
    }

    private static function closedFor(int $days): Calendar
    {
        $dates = array_map(static fn (int $day): DateTimeImmutable => new DateTimeImmutable("2030-01-01 +$day days"), range(0, $days - 1));

        return Calendar::of('UTC')->hours('09:00-10:00')->without($dates);
    }
}
