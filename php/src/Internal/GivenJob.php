<?php

declare(strict_types=1);

namespace DelayQueue\Internal;

use BackedEnum;
use DelayQueue\Backoff;
use DelayQueue\InvalidArgument;
use DelayQueue\NewJob;
use ReflectionParameter;
use TypeError;
use ValueError;

/**
 * A job as users give it: a NewJob, or an array with its properties as keys. What properties there are, the extension says.
 *
 * @internal
 */
final class GivenJob
{
    /** @var array<string, mixed>|null */
    private static ?array $defaults = null;

    /** @var array<string, list<string>>|null */
    private static ?array $types = null;

    /**
     * @param string $what it is, for errors
     * @param list<string> $not keys that it must not have, because the caller sets them, or has no use for them
     *
     * @return array<string, mixed> as pushMany() takes it, without what is as by default
     *
     * @throws TypeError|ValueError
     */
    public static function read(mixed $job, string $what, array $not = []): array
    {
        if (!$job instanceof NewJob && !is_array($job)) {
            throw new TypeError("$what must be of type " . NewJob::class . '|array, ' . get_debug_type($job) . ' given');
        }
        $given = (array) $job;
        array_key_exists('payload', $given) || throw Invalid::key($what, 'payload', 'must be given');
        $defaults = self::defaults();
        foreach ($given as $key => $value) {
            if (array_key_exists($key, $defaults) && $value === $defaults[$key]) {
                unset($given[$key]);
            }
        }
        $given = array_replace(array_intersect_key($defaults, $given), $given); // equal jobs are equal arrays
        $wrong = array_key_first(array_intersect_key($given, array_flip($not)));
        $wrong === null || throw Invalid::key($what, $wrong, 'must not be given');

        return $given;
    }

    /** An error of the extension about the job, with what it is instead of a method of the extension. */
    public static function wrong(TypeError|ValueError $error, string $what): TypeError|ValueError
    {
        if (!$error instanceof InvalidArgument) {
            return new ($error::class)("$what: {$error->getMessage()}", 0, $error);
        }
        $isUnknown = $error->key !== null && $error->key !== 'payload' && !array_key_exists($error->key, self::defaults());

        return $isUnknown ? Invalid::argument($what, $error->reason, $error) : Invalid::key($what, $error->key ?? $error->parameter, $error->reason, $error);
    }

    /** Whether a property may be of this type, such as DateInterval, which says that it may be a length of time. */
    public static function mayBe(string $property, string $type): bool
    {
        return in_array($type, self::types()[$property] ?? [], true);
    }

    /**
     * The value of a property that is an object or a list, as it was stored or written; all others are as they are.
     *
     * @throws ValueError when it is none
     */
    public static function value(string $property, mixed $value): mixed
    {
        foreach (self::types()[$property] ?? [] as $type) {
            if ($type === 'array') {
                return (array) $value;
            }
            if ($type === Backoff::class && is_string($value)) {
                return Backoff::parse($value);
            }
            if (is_a($type, BackedEnum::class, true) && is_string($value)) {
                $words = array_column($type::cases(), 'value');
                $last = array_pop($words);

                $must = 'must be ' . implode(', ', $words) . " or $last";

                return $type::tryFrom($value) ?? throw Invalid::argument($property, $must);
            }
        }

        return $value;
    }

    /**
     * The options of a job as JSON has them.
     *
     * @param array<string, mixed> $options whose lengths of time are numbers
     *
     * @return array<string, mixed>
     */
    public static function toJson(array $options): array
    {
        return array_map(static fn (mixed $value): mixed => match (true) {
            $value instanceof Backoff => (string) $value,
            $value instanceof BackedEnum => $value->value,
            is_array($value) => (object) $value, // also when the names are numbers
            default => $value,
        }, $options);
    }

    /**
     * @param array<string, mixed> $stored of toJson()
     *
     * @return array<string, mixed>
     *
     * @throws TypeError|ValueError
     */
    public static function fromJson(array $stored): array
    {
        foreach ($stored as $name => $value) {
            $stored[$name] = self::value((string) $name, $value);
        }

        return $stored;
    }

    /** @return array<string, mixed> */
    private static function defaults(): array
    {
        $isOptional = static fn (ReflectionParameter $parameter): bool => $parameter->isOptional();

        return self::$defaults ??= array_map(
            static fn (ReflectionParameter $parameter): mixed => $parameter->getDefaultValue(),
            array_filter(Parameters::of(NewJob::class . '::__construct'), $isOptional),
        );
    }

    /** @return array<string, list<string>> of the properties, by their names */
    public static function types(): array
    {
        return self::$types ??= Parameters::types(NewJob::class . '::__construct');
    }
}
