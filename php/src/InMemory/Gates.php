<?php

declare(strict_types=1);

namespace DelayQueue\InMemory;

use DelayQueue\GroupLimits;
use DelayQueue\Release;

/**
 * Limits, tokens that are spent, and pauses: they keep jobs of groups, or all jobs of a queue, from being served.
 *
 * @internal
 */
final class Gates
{
    /** Beside the names of groups. */
    public const QUEUE = "\n";

    /** All groups without limits of their own. */
    public const OTHERS = '';

    public const NEVER = PHP_INT_MAX;

    /** @var array<array-key, GroupLimits> */
    private array $limits = [];

    /** @var array<array-key, array{int, int}> of those with a rate: microseconds from start to start, and how many may start at once */
    private array $rates = [];

    /** @var array<array-key, int> until when their tokens are spent */
    private array $spent = [];

    /** @var array<array-key, int> until when they are closed */
    private array $closed = [];

    /** From the next lease on; null: none. */
    public function limit(string $name, ?GroupLimits $limits): void
    {
        unset($this->limits[$name], $this->rates[$name]);
        if ($limits === null) {
            if ($name === self::QUEUE) {
                unset($this->spent[$name]);
            }

            return;
        }
        $this->limits[$name] = $limits;
        if ($limits->rate !== null) {
            [$starts, $duration] = explode('/', $limits->rate);
            $intervalUs = (int) ceil(Store::us((new Release(trim($duration)))->delay) / (int) $starts);
            $this->rates[$name] = [$intervalUs, $limits->burst ?? (int) $starts];
        }
    }

    /** @return array{queue: ?GroupLimits, others: ?GroupLimits, groups: array<array-key, GroupLimits>} */
    public function limits(): array
    {
        $groups = $this->limits;
        unset($groups[self::QUEUE], $groups[self::OTHERS]);
        uksort($groups, static fn (int|string $a, int|string $b): int => strcmp((string) $a, (string) $b));

        return ['queue' => $this->limits[self::QUEUE] ?? null, 'others' => $this->limits[self::OTHERS] ?? null, 'groups' => $groups];
    }

    public function hasConcurrency(string $name): bool
    {
        return ($this->limits[$this->like($name)] ?? null)?->concurrency !== null;
    }

    public function isOrdered(string $name): bool
    {
        return $this->limits[$this->like($name)]->ordered ?? false;
    }

    public function weight(string $name): int
    {
        return $this->limits[$this->like($name)]->weight ?? 1;
    }

    /** How many more jobs may start now. */
    public function most(string $name, int $held, int $nowUs): int
    {
        if ($this->momentUs($name, $held, $nowUs) > $nowUs) {
            return 0;
        }
        [$intervalUs, $burst] = $this->rates[$this->like($name)] ?? [0, 0];
        $tokens = $intervalUs === 0 ? PHP_INT_MAX : floor($burst - max(0, $this->spentUs($name, $nowUs) - $nowUs) / $intervalUs);

        return (int) min($this->room($name, $held), $tokens);
    }

    /** From when on a job may start, as long as nobody gives one back: in the past where one may now. */
    public function momentUs(string $name, int $held, int $nowUs): int
    {
        [$intervalUs, $burst] = $this->rates[$this->like($name)] ?? [0, 0];
        $tokenUs = $intervalUs === 0 ? 0 : $this->spentUs($name, $nowUs) - ($burst - 1) * $intervalUs;

        return $this->room($name, $held) === 0 ? self::NEVER : max($tokenUs, $this->closed[$name] ?? 0);
    }

    public function spend(string $name, int $many, int $nowUs): void
    {
        $intervalUs = $this->rates[$this->like($name)][0] ?? 0;
        if ($intervalUs > 0) {
            $this->spent[$name] = max($this->spentUs($name, $nowUs), $nowUs) + $many * $intervalUs;
        }
    }

    /** No more is spent than the limits of now allow: they may have been changed, or the clock set back. */
    public function writeOff(string $name, int $nowUs): void
    {
        if (isset($this->spent[$name])) {
            $this->spent[$name] = $this->spentUs($name, $nowUs);
        }
    }

    /** @param int $untilUs NEVER: until it is opened */
    public function close(string $name, int $untilUs): void
    {
        $this->closed[$name] = $untilUs;
    }

    public function open(string $name): void
    {
        unset($this->closed[$name]);
    }

    /** Moments that have passed mean nothing any more. */
    public function forgetPast(int $nowUs): void
    {
        $isAhead = static fn (int $us): bool => $us > $nowUs;
        [$this->spent, $this->closed] = [array_filter($this->spent, $isAhead), array_filter($this->closed, $isAhead)];
    }

    public function haveLimits(): bool
    {
        return $this->limits !== [];
    }

    /** No limits, and nothing spent or closed. */
    public function areOpen(int $nowUs): bool
    {
        return !$this->haveLimits() && max([0, ...array_values($this->spent), ...array_values($this->closed)]) <= $nowUs;
    }

    /** @return int|null null: it is open */
    public function closedUntilUs(string $name, int $nowUs): ?int
    {
        $untilUs = $this->closed[$name] ?? 0;

        return $untilUs > $nowUs ? $untilUs : null;
    }

    private function spentUs(string $name, int $nowUs): int
    {
        $spentUs = $this->spent[$name] ?? 0;
        [$intervalUs, $burst] = $this->rates[$this->like($name)] ?? [0, 0];

        return $intervalUs === 0 ? $spentUs : min($spentUs, $nowUs + $burst * $intervalUs);
    }

    private function room(string $name, int $held): int
    {
        $most = ($this->limits[$this->like($name)] ?? null)?->concurrency;

        return $most === null ? PHP_INT_MAX : max(0, $most - $held);
    }

    /** The name under which the limits of this one are. */
    private function like(string $name): string
    {
        return $name === self::QUEUE || isset($this->limits[$name]) ? $name : self::OTHERS;
    }
}
