<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DateTimeImmutable;
use DelayQueue\InvalidArgument;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;

use function DelayQueue\duration;

/** The two ways to say when: a moment, or after a delay. */
final class Moment
{
    public static function describe(Command $command): void
    {
        $help = 'The job is due at this moment, as strtotime() reads it: "tomorrow 9:00", 2030-01-31T12:00:00Z, @1700000000';
        $command->addOption('at', null, InputOption::VALUE_REQUIRED, $help);
    }

    /**
     * @return string|DateTimeImmutable what DelayQueue takes for a delay
     *
     * @throws UsageException when both are given, neither is, or the moment cannot be read
     */
    public static function of(InputInterface $input, ?string $delay, ?string $default = null): string|DateTimeImmutable
    {
        $at = $input->getOption('at');
        if ($delay !== null && $at !== null) {
            throw new UsageException('give a delay or --at, not both');
        }
        if ($delay !== null && self::isUnixTime($delay)) {
            throw new UsageException("delay must be a delay, and $delay looks like a Unix time: for a moment give " . self::option($delay));
        }
        if ($at === null) {
            return $delay ?? $default ?? throw new UsageException('give a delay or --at');
        }

        return self::parse($at) ?? throw new UsageException("--at=$at is not a moment" . self::hint('at', $at));
    }

    /**
     * The value of an option that takes a duration as --delay does, or a moment as --at does.
     *
     * @throws UsageException when it is neither
     */
    public static function orDuration(?string $value, string $option): string|DateTimeImmutable|null
    {
        // PHP takes what begins with a minus for a moment of the past; the extension says what is wrong.
        if ($value === null || str_starts_with($value, '-') || self::isDuration($value)) {
            return $value;
        }

        return self::parse($value) ?? throw new UsageException("--$option=$value is neither a duration nor a moment" . self::hint($option, $value));
    }

    private static function isDuration(string $text): bool
    {
        try {
            return !self::isUnixTime($text) && duration($text) >= 0;
        } catch (InvalidArgument) {
            return false;
        }
    }

    private static function parse(string $text): ?DateTimeImmutable
    {
        // PHP takes nothing for now.
        $isNone = trim($text) === '' || self::isUnixTime($text) || self::isZone($text);
        $moment = $isNone ? false : date_create_immutable($text);

        // PHP takes 31 February for 3 March, with a warning.
        return $moment === false || (DateTimeImmutable::getLastErrors()['warning_count'] ?? 0) > 0 ? null : $moment;
    }

    /** PHP takes a time zone alone for now, and a single letter is one. */
    private static function isZone(string $text): bool
    {
        $parts = date_parse($text);

        $isDateless = $parts['year'] === false && $parts['hour'] === false && !isset($parts['relative']);

        return $parts['is_localtime'] && $isDateless;
    }

    /** PHP takes some for an hour, a minute, a second and a year. */
    public static function isUnixTime(string $text): bool
    {
        return is_numeric($text) && $text >= 1e9 && $text < 3e9;
    }

    private static function hint(string $option, string $text): string
    {
        return is_numeric($text) ? ': for a Unix time write ' . self::option($text, $option) : '';
    }

    /** The option that means a Unix time. */
    private static function option(string $unixTime, string $name = 'at'): string
    {
        return "--$name=@" . ($unixTime + 0);
    }
}
