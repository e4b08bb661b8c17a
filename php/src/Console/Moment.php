<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DateTimeImmutable;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;

/** The two ways to say when: --at a moment, or after a delay. */
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
        if ($at === null) {
            return $delay ?? $default ?? throw new UsageException('give a delay or --at');
        }
        // PHP takes some Unix times for an hour, a minute, a second and a year.
        $moment = is_numeric($at) && $at >= 1e9 && $at < 3e9 ? false : date_create_immutable($at);

        return $moment ?: throw new UsageException("--at=$at is not a moment" . (is_numeric($at) ? ': for a Unix time write ' . self::option($at) : ''));
    }

    /** The option that means a Unix time. */
    public static function option(string $unixTime): string
    {
        return '--at=@' . ($unixTime + 0);
    }
}
