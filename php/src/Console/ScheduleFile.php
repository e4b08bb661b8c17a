<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DateTimeInterface;
use DateTimeZone;
use DelayQueue\Internal\ExactJson;
use DelayQueue\Internal\Parameters;
use DelayQueue\Internal\Verbatim;
use DelayQueue\InvalidArgument;
use DelayQueue\Schedule\CatchUp;
use DelayQueue\Schedule\Cron;
use DelayQueue\Schedule\Definition;
use DelayQueue\Schedule\Ended;
use DelayQueue\Schedule\Every;
use DelayQueue\Schedule\Overlap;
use DelayQueue\Schedule\Schedules;
use DelayQueue\Schedule\Zone;
use JsonException;
use stdClass;
use Throwable;

/** A file of definitions: JSON if its name ends so, else PHP that returns them. By their names, with the parameters of Schedules::set(). */
final class ScheduleFile
{
    /** What a clock is made of: parameters of Cron::parse() and Every::interval() by their keys here. */
    private const CLOCK = ['cron' => 'line', 'zone' => 'zone', 'every' => 'interval'];

    /**
     * All that can be wrong is said before anything is stored.
     *
     * @return array<array-key, Definition|null> by their names; null: its time is over
     *
     * @throws UsageException
     */
    public static function read(string $path, Schedules $schedules): array
    {
        $definitions = [];
        foreach (self::contents($path) as $name => $definition) {
            try {
                $definitions[$name] = $schedules->define(['name' => (string) $name] + self::arguments((array) $definition));
            } catch (Ended) {
                $definitions[$name] = null;
            } catch (\ValueError | \TypeError | UsageException $error) {
                throw new UsageException("schedule $name in $path: " . self::said($error), 0, $error);
            }
        }

        return $definitions;
    }

    /** An error about an argument, with the key in its place. */
    private static function said(Throwable $error): string
    {
        if (!$error instanceof InvalidArgument) {
            return $error->getMessage();
        }
        $key = $error->key ?? (array_search($error->parameter, self::CLOCK, true) ?: $error->parameter);

        return trim("$key $error->reason");
    }

    /** @return iterable<array-key, mixed> */
    private static function contents(string $path): iterable
    {
        is_file($path) || throw new UsageException("there is no file $path");
        try {
            $contents = Streams::contents(Streams::open($path));
            $isJson = str_ends_with($path, '.json');
            if (!$isJson && !str_contains($contents, '<?php')) {
                // PHP would print it.
                throw new UsageException("$path is not PHP, and the name of a file of JSON ends in .json");
            }
            $found = $isJson ? self::json($contents) : require $path;
        } catch (StreamError $error) {
            throw new UsageException("cannot read $path: {$error->getMessage()}", 0, $error);
        } catch (UsageException $error) {
            throw $error;
        } catch (JsonException $error) {
            throw new UsageException("$path is not JSON ({$error->getMessage()})", 0, $error);
        } catch (Throwable $error) {
            throw new UsageException("cannot load $path: " . $error::class . " {$error->getMessage()} ({$error->getFile()}:{$error->getLine()})", 0, $error);
        }

        $areNamed = $found instanceof stdClass || (is_array($found) && ($found === [] || !array_is_list($found)));

        return $areNamed ? (array) $found : throw new UsageException("$path has no definitions by their names");
    }

    /** The definitions of JSON. A payload whose numbers PHP would write otherwise stays as it is written. */
    private static function json(string $text): mixed
    {
        $found = json_decode($text, flags: JSON_THROW_ON_ERROR);
        $exact = ExactJson::decode($text);
        foreach ($found instanceof stdClass ? $found : [] as $name => $definition) {
            if ($definition instanceof stdClass) {
                $payload = ExactJson::textUnlessPlain($exact->$name->payload ?? null);
                $definition->payload = $payload === null ? $definition->payload ?? null : new Verbatim($payload);
            }
        }

        return $found;
    }

    /**
     * @param array<string, mixed> $given
     *
     * @return array<string, mixed>
     */
    private static function arguments(array $given): array
    {
        !array_key_exists('name', $given) || throw new UsageException('there is no key name');
        $arguments = array_diff_key($given, self::CLOCK);
        $arguments['when'] = self::when($given);
        $text = static fn (string $key): ?string => is_string($arguments[$key] ?? null) ? $arguments[$key] : null;
        if (isset($arguments['until']) && !$arguments['until'] instanceof DateTimeInterface) {
            $text('until') ?? throw new UsageException('until must be a moment in quotes');
            $until = date_create_immutable($arguments['until'], self::zone($given));
            $arguments['until'] = $until ?: throw new UsageException("until is no moment: {$arguments['until']}");
        }
        foreach (array_intersect_key($arguments, JobOptions::types()) as $key => $value) {
            $arguments[$key] = $value === null ? null : JobOptions::object($key, $value, $key);
        }
        if ($text('catchUp') === CatchUp::All->value) {
            $arguments['catchUp'] = CatchUp::All;
        }
        if ($text('overlap') !== null) {
            $words = array_column(Overlap::cases(), 'value');
            $arguments['overlap'] = Overlap::tryFrom($arguments['overlap']) ?? throw new UsageException('overlap must be one of ' . implode(', ', $words));
        }

        return array_filter($arguments, static fn (mixed $value): bool => $value !== null) + ['queue' => ''];
    }

    /** @param array<string, mixed> $given */
    private static function when(array $given): Cron|Every
    {
        if (isset($given['when']) + isset($given['cron']) + isset($given['every']) > 1) {
            throw new UsageException('it needs one of cron and every, not both');
        }
        if (isset($given['zone']) && !isset($given['cron'])) {
            throw new UsageException('zone goes with cron');
        }

        foreach (self::CLOCK as $key => $parameter) {
            $types = Parameters::types($key === 'every' ? Every::class . '::interval' : Cron::class . '::parse')[$parameter];
            $fault = isset($given[$key]) ? Parameters::fault($given[$key], $types) : null;
            $fault === null || throw new UsageException("$key $fault");
        }

        return match (true) {
            ($given['when'] ?? null) instanceof Cron, ($given['when'] ?? null) instanceof Every => $given['when'],
            isset($given['cron']) => Cron::parse($given['cron'], $given['zone'] ?? 'UTC'),
            isset($given['every']) => Every::interval($given['every']),
            default => throw new UsageException('it has neither cron nor every'),
        };
    }

    /**
     * Of moments without one.
     *
     * @param array<string, mixed> $given
     */
    private static function zone(array $given): ?DateTimeZone
    {
        $when = $given['when'] ?? null;
        $zone = $when instanceof Cron ? $when->timeZone : $given['zone'] ?? null;

        return $zone === null ? null : Zone::named($zone);
    }
}
