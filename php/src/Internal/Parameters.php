<?php

declare(strict_types=1);

namespace DelayQueue\Internal;

use ReflectionMethod;
use ReflectionParameter;

/**
 * The parameters of a method, for callers whose arguments come from outside.
 *
 * @internal
 */
final class Parameters
{
    /**
     * @param string $method as __METHOD__ has it
     *
     * @return array<string, ReflectionParameter> by their names
     */
    public static function of(string $method): array
    {
        $parameters = (new ReflectionMethod(...explode('::', $method)))->getParameters();

        $name = static fn (ReflectionParameter $parameter): string => $parameter->getName();

        return array_combine(array_map($name, $parameters), $parameters);
    }

    /** @return array<string, list<string>> by their names */
    public static function types(string $method): array
    {
        $types = static fn (ReflectionParameter $parameter): array => explode('|', ltrim((string) $parameter->getType(), '?'));

        return array_map($types, self::of($method));
    }

    /**
     * Why a value is of none of these types, as PHP says it; or null.
     *
     * @param list<string> $types
     */
    public static function fault(mixed $value, array $types): ?string
    {
        $is = get_debug_type($value);
        foreach ($types as $type) {
            if ($type === $is || $type === 'mixed' || $value instanceof $type || $type === 'float' && is_int($value)) {
                return null;
            }
        }

        return 'must be of type ' . implode('|', $types) . ", $is given";
    }
}
