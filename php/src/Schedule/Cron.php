<?php

declare(strict_types=1);

namespace DelayQueue\Schedule;

use Cron\CronExpression;
use DateTimeImmutable;
use DateTimeInterface;
use DateTimeZone;
use DelayQueue\Internal\Excerpt;
use Error;
use InvalidArgumentException;
use RuntimeException;
use TypeError;
use UnexpectedValueException;
use ValueError;

/**
 * The moments of a line of cron in a time zone. It needs dragonmantank/cron-expression.
 *
 * A line with fixed hours runs, for a moment that clocks leave out, once right after the gap, and for one that clocks show twice at the first. A line
 * whose hours are * or have a step follows the time that passes: it runs in both hours, and in none that does not exist. A day that does not exist is left out.
 */
final class Cron implements Recurrence
{
    /** Seconds: a fifth weekday of February waits longest for its next moment, for forty years around 2100. */
    private const LONGEST = 41 * 366 * 86400;

    /** Steps of the library for one moment: 40 months of February, day by day, and the other months. */
    private const MOST_STEPS = 2_000;

    /** Unix seconds: the years 1 to 9999, which the library knows. */
    private const YEARS = [-62_135_596_800, 253_402_300_799];

    private readonly CronExpression $clock;

    private readonly Zone $zone;

    /** Follows the time that passes. */
    private readonly bool $isElapsed;

    /** The last answer: none lies between these two. A wave of schedules asks the same again and again. */
    private ?DateTimeInterface $asked = null;
    private ?DateTimeImmutable $answer = null;

    /** The moment that last() or isAt() has found. */
    private ?DateTimeImmutable $found = null;

    private function __construct(public readonly string $line, public readonly string $timeZone, DateTimeZone $zone)
    {
        $fields = Fields::parse($line);
        $this->clock = (new CronExpression($fields->text))->setMaxIterationCount(self::MOST_STEPS);
        $this->zone = new Zone($zone);
        $this->isElapsed = $fields->hasOpenHours;
    }

    /**
     * @param string $line five fields, or @daily and the like
     * @param string $zone "Europe/Berlin", "UTC", or an offset such as "+05:30"
     *
     * @throws ValueError with the reason; also when it never comes, as the 31st of February
     */
    public static function parse(string $line, string $zone = 'UTC'): self
    {
        if (!class_exists(CronExpression::class)) {
            $library = 'dragonmantank/cron-expression';
            throw new Error(self::class . " needs $library: composer require $library, or apt-get install php-dragonmantank-cron-expression");
        }
        $shown = Excerpt::of($line, 100);
        try {
            $cron = new self($line, $zone, Zone::named($zone));
        } catch (UnexpectedValueException $error) {
            throw Arguments::wrong(__METHOD__, 'zone', $error->getMessage(), $error);
        } catch (InvalidArgumentException $error) {
            $reason = Excerpt::of($error->getMessage(), 200);
            throw Arguments::wrong(__METHOD__, 'line', "must be a line of cron, \"$shown\" is none: $reason", $error);
        }

        return $cron->next(new DateTimeImmutable()) === null
            ? throw Arguments::wrong(__METHOD__, 'line', "must have a moment, \"$shown\" never comes")
            : $cron;
    }

    /** In its time zone. */
    public function next(DateTimeInterface $after): ?DateTimeImmutable
    {
        if (self::isTooFar($after)) {
            return null;
        }
        if ($this->asked === null || $after < $this->asked || ($this->answer !== null && $after >= $this->answer)) {
            $this->answer = $this->isElapsed ? $this->nextElapsed($after) : $this->nextFixed($after);
            $this->asked = DateTimeImmutable::createFromInterface($after);
        }

        return $this->answer;
    }

    /**
     * In its time zone.
     *
     * @internal
     */
    public function local(DateTimeImmutable $moment): DateTimeImmutable
    {
        return $moment->setTimezone($this->zone->zone);
    }

    /** @internal */
    public function last(DateTimeInterface $upTo): ?DateTimeImmutable
    {
        if (self::isTooFar($upTo)) {
            return null;
        }
        if ($this->found === null || $this->found > $upTo || (($next = $this->next($this->found)) !== null && $next <= $upTo)) {
            $this->found = $this->search($upTo);
        }

        return $this->found;
    }

    /** @internal */
    public function isAt(DateTimeInterface $moment): bool
    {
        if ($this->found == $moment) {
            return true;
        }
        $moment = DateTimeImmutable::createFromInterface($moment);
        if ($moment->format('u') !== '000000' || $moment->getTimestamp() % 60 !== 0 || $this->next($moment->modify('-1 second')) != $moment) {
            return false;
        }
        $this->found = $this->local($moment);

        return true;
    }

    /** @internal */
    public function toArray(): array
    {
        return ['cron' => $this->line, 'zone' => $this->timeZone];
    }

    public function __toString(): string
    {
        return "$this->line $this->timeZone";
    }

    private static function isTooFar(DateTimeInterface $moment): bool
    {
        return $moment->getTimestamp() < self::YEARS[0] || $moment->getTimestamp() > self::YEARS[1];
    }

    private function search(DateTimeInterface $upTo): ?DateTimeImmutable
    {
        $end = $upTo->getTimestamp();
        $isBehind = fn (int $seconds): bool => ($next = $this->next(new DateTimeImmutable("@$seconds"))) === null || $next > $upTo;
        for ($far = 60; $isBehind($end - $far); $far *= 8) {
            if ($far > self::LONGEST) {
                return null;
            }
        }
        $found = $this->next(new DateTimeImmutable('@' . $end - $far));
        // It is $found or comes after that, and nothing comes after $end.
        while (($next = $this->next($found)) !== null && $next <= $upTo) {
            $middle = intdiv($next->getTimestamp() + $end, 2);
            if ($isBehind($middle)) {
                [$found, $end] = [$next, $middle];
            } else {
                $found = $this->next(new DateTimeImmutable("@$middle"));
            }
        }

        return $found;
    }

    private function nextFixed(DateTimeInterface $after): ?DateTimeImmutable
    {
        $wall = $this->zone->wall($after);
        do {
            $wall = $this->wallAfter($wall);
            $moment = $wall === null ? null : $this->zone->first($wall);
        } while ($wall !== null && ($moment === null || $moment <= $after));

        return $moment;
    }

    /** Between two changes of the clock wall clocks go as time does. */
    private function nextElapsed(DateTimeInterface $after): ?DateTimeImmutable
    {
        [$from, $isIncluded] = [$after, false];
        while ($from->getTimestamp() - $after->getTimestamp() < self::LONGEST) {
            $end = $this->zone->evenUntil($from);
            $wall = $this->wallAfter($this->zone->wall($from), $isIncluded);
            if ($wall === null) {
                return null;
            }
            $moment = $this->zone->at($wall, $from);
            if ($moment < $end) {
                return $moment;
            }
            // None comes before $wall, whatever the clock does until then.
            [$from, $isIncluded] = [max($end, $this->zone->before($wall)), true];
        }

        return null;
    }

    private function wallAfter(DateTimeImmutable $wall, bool $isIncluded = false): ?DateTimeImmutable
    {
        try {
            // Where both a day and a weekday never come, it gives an undefined value.
            return DateTimeImmutable::createFromMutable(@$this->clock->getNextRunDate($wall, 0, $isIncluded, 'UTC'));
        } catch (RuntimeException | TypeError) {
            return null;
        }
    }
}
