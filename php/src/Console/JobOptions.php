<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DateInterval;
use DateTimeInterface;
use DelayQueue\Internal\GivenJob;
use DelayQueue\InvalidArgument;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;

/** What can be said of a job. The constructor of NewJob is the list: its parameters are options here, as --max-attempts for $maxAttempts. */
final class JobOptions
{
    /** Help texts by parameter. One without a text is an option all the same. */
    private const HELP = [
        'delay' => 'The job is due after this: seconds, 500ms, 15m, 2h30m, PT15M (default: now)',
        'id' => 'Its id (default: a UUIDv7)',
        'priority' => 'Smaller is sooner; in a group only within it (default: 1024)',
        'ttr' => 'How long a worker may hold it (default: 60s)',
        'maxAttempts' => 'Bury the job when this many attempts have failed; 0: no limit (default: 10)',
        'backoff' => 'Delays between the attempts: "15s 3m 10m", the last one repeats; or "fixed 1m", "linear 2m 1m" (default: "exponential 5s 2 1h 0.1")',
        'timeout' => 'Time limit of one run of the handler; 0: none',
        'onDuplicate' => 'When the id is in the queue already: fail, keep or replace (default: fail)',
        'headers' => 'A header of the job: "name: value"; give the option once for each',
        'unique' => 'With --id: the id stays taken for so long, also when its job is done or cancelled',
        'maxWait' => 'With --on-duplicate=replace: a job that is replaced again and again is due at the latest so long after the first push',
        'expires' => 'It never runs if no worker has started it so long after its due time, or by this moment: 1h, or "tomorrow 9:00"',
        'onExpiry' => 'What becomes of it then: bury or drop (default: bury)',
        'retryUntil' => 'No attempt is made later than so long after its due time, or than this moment',
        'group' => 'Its group: groups take turns, and may have limits (default: none)',
    ];

    /** All of them, but for the payload. */
    public static function describe(Command $command): void
    {
        foreach (self::types() as $name => $types) {
            $list = in_array('array', $types, true) ? InputOption::VALUE_IS_ARRAY : 0;
            $command->addOption(self::option($name), null, InputOption::VALUE_REQUIRED | $list, self::HELP[$name] ?? "As \$$name of DelayQueue\\NewJob");
        }
        Moment::describe($command);
    }

    /**
     * @return array<string, mixed> what is given, by the names of the parameters
     *
     * @throws UsageException
     */
    public static function of(InputInterface $input): array
    {
        $given = ['delay' => Moment::of($input, $input->getOption('delay'), '0')];
        foreach (array_diff_key(self::types(), $given) as $name => $types) {
            $option = self::option($name);
            $value = $input->getOption($option);
            if ($value !== null && $value !== []) {
                $given[$name] = is_array($value) ? Headers::parse($value) : self::read($name, $value, $option);
            }
        }

        return $given;
    }

    /**
     * The value of a parameter, from the word or text that stands for an object.
     *
     * @param string $what it is, for errors
     *
     * @throws UsageException
     */
    public static function object(string $name, mixed $value, string $what): mixed
    {
        if (self::types()[$name] === ['int'] && is_string($value)) {
            throw new UsageException("$what must be a whole number");
        }
        try {
            return GivenJob::value($name, $value);
        } catch (InvalidArgument $error) {
            throw new UsageException("$what $error->reason", 0, $error);
        }
    }

    /** @return array<string, list<string>> of the parameters, by their names */
    public static function types(): array
    {
        return array_diff_key(GivenJob::types(), ['payload' => 0]);
    }

    private static function read(string $name, string $text, string $option): mixed
    {
        $types = self::types()[$name];

        return match (true) {
            in_array(DateTimeInterface::class, $types, true) => Moment::orDuration($text, $option),
            in_array(DateInterval::class, $types, true) => Duration::of($text, "--$option"),
            in_array('int', $types, true) => Number::of($text, "--$option"),
            default => self::object($name, $text, "--$option"),
        };
    }

    /** The name of an option, by that of a parameter: a list has one for each of its entries. */
    public static function option(string $name): string
    {
        $option = strtolower((string) preg_replace('/[A-Z]/', '-$0', $name));

        return in_array('array', self::types()[$name] ?? [], true) ? rtrim($option, 's') : $option;
    }
}
