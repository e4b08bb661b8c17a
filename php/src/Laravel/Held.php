<?php

declare(strict_types=1);

namespace DelayQueue\Laravel;

use Closure;
use Illuminate\Bus\UniqueLock;
use Illuminate\Contracts\Queue\ShouldBeUnique;
use Illuminate\Queue\CallQueuedHandler;
use ReflectionClass;

/**
 * What a job of Laravel holds until it ends: its unique lock, its place in a batch, the rest of a chain. The payload
 * says it, because the job itself cannot always be asked: it may be encrypted, or its model may be gone.
 */
final class Held
{
    /** The member of the payload's `delayqueue`. */
    private const MEMBER = 'held';

    private function __construct(
        /** The key in the cache. A member of a batch has none: Laravel takes no lock for it. */
        public readonly ?string $lock = null,
        /** Who has the lock, where Laravel writes it down (13). */
        public readonly ?string $owner = null,
        public readonly ?string $batch = null,
        /** Links behind it in its chain that count in the batch. */
        public readonly int $links = 0,
        /** Its chain has catch() call-backs. */
        public readonly bool $catches = false,
        /** Its mark as the last dispatch of a debounce (Laravel 13). */
        public readonly ?string $debounce = null,
    ) {
    }

    public static function by(object $command): self
    {
        // A member of a batch, which is dear to ask for by its trait with each push.
        $batch = isset($command->batchId) && method_exists($command, 'withBatchId') ? $command->batchId : null;
        $isUnique = $command instanceof ShouldBeUnique
            || (method_exists($command, 'shouldBeUnique') && $command->shouldBeUnique());
        $isUnique = $isUnique && $batch === null;
        $owner = $isUnique ? $command->uniqueLockOwner ?? null : null;
        $isLink = static fn (mixed $link): bool => is_string($link) && str_contains($link, (string) $batch);

        return new self(
            $isUnique ? self::lockOf($command) : null,
            is_string($owner) && $owner !== '' ? $owner : null,
            $batch,
            $batch === null ? 0 : count(array_filter($command->chained ?? [], $isLink)),
            !empty($command->chainCatchCallbacks),
            $command->debounceOwner ?? null,
        );
    }

    /**
     * @param array<array-key, mixed> $payload
     *
     * @return self|null null: it does not say it
     */
    public static function in(array $payload): ?self
    {
        $held = is_array($payload['delayqueue'] ?? null) ? $payload['delayqueue'][self::MEMBER] ?? null : null;

        if (!is_array($held)) {
            return null;
        }
        $text = static fn (string $name): ?string => is_string($held[$name] ?? null) ? $held[$name] : null;

        return new self(
            $text('lock'),
            $text('owner'),
            $text('batch'),
            (int) ($held['links'] ?? 0),
            !empty($held['catches']),
            $text('debounce'),
        );
    }

    /**
     * Whether the job may hold something. A payload of another driver does not say it, and to restore each command
     * would ask the database for its models.
     *
     * @param array<array-key, mixed> $payload
     */
    public static function mayBeIn(array $payload): bool
    {
        if (self::in($payload) !== null) {
            return true;
        }
        [$class, $command] = [$payload['data']['commandName'] ?? null, $payload['data']['command'] ?? null];
        $isCommand = is_string($payload['job'] ?? null) && str_starts_with($payload['job'], CallQueuedHandler::class);
        if (!$isCommand || !is_string($class) || !is_string($command)) {
            return false;
        }

        return is_a($class, ShouldBeUnique::class, true)
            || !str_starts_with($command, 'O:')
            || preg_match('/"(batchId";s:|chainCatchCallbacks";a:[1-9])/', $command) === 1;
    }

    /** @return array<string, array<string, mixed>> for the payload's `delayqueue`: empty where it holds nothing */
    public function member(): array
    {
        $held = array_filter(get_object_vars($this));

        return $held === [] ? [] : [self::MEMBER => $held];
    }

    /**
     * @param array<array-key, mixed> $wishes of the payload's `delayqueue`
     *
     * @return array<array-key, mixed> those of a job that holds nothing
     */
    public static function without(array $wishes): array
    {
        return array_diff_key($wishes, [self::MEMBER => 1]);
    }

    /** As Laravel names it, by which older versions tell nobody. */
    private static function lockOf(object $command): string
    {
        if (method_exists(UniqueLock::class, 'getKey')) {
            $lock = (new ReflectionClass(UniqueLock::class))->newInstanceWithoutConstructor();

            return (string) Closure::bind(fn (): string => $this->getKey($command), $lock, UniqueLock::class)();
        }
        $id = method_exists($command, 'uniqueId') ? $command->uniqueId() : $command->uniqueId ?? '';

        return 'laravel_unique_job:' . $command::class . $id;
    }
}
