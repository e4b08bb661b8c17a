<?php

declare(strict_types=1);

namespace DelayQueue\Internal;

/**
 * Headers of this package, such as `dq-chain`: a job that loses them leaves its chain or batch.
 *
 * @internal
 */
final class OwnHeaders
{
    /** Of a job that an operator has pushed as a copy: the id of the other one. */
    public const COPY = 'dq-copy';

    /**
     * @param array<array-key, string> $headers
     *
     * @return array<string, string>
     */
    public static function of(array $headers): array
    {
        return array_filter($headers, static fn (int|string $name): bool => str_starts_with((string) $name, 'dq-'), ARRAY_FILTER_USE_KEY);
    }
}
