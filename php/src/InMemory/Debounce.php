<?php

declare(strict_types=1);

namespace DelayQueue\InMemory;

/**
 * maxWait of push(): however often a job is replaced, it falls due then. The moment is the trait `w` in the extras of the job, as on Redis
 * (lua/lib/debounce.lua).
 *
 * @internal
 */
final class Debounce
{
    private const IS_DURATION = "\1";

    private const IS_MOMENT = "\0";

    /** @param Entry|null $old the job that is replaced */
    public static function apply(Entry $new, ?Entry $old, int $nowUs): void
    {
        $extras = (string) $new->info->extras;
        $at = self::limitAt($extras);
        if ($at === null || $extras[$at] !== self::IS_DURATION) {
            return;
        }
        $oldExtras = $old === null || self::hasComeBack($old) ? '' : (string) $old->info->extras;
        $oldAt = self::limitAt($oldExtras);
        $latestUs = $oldAt === null ? $nowUs + self::number($extras, $at) : self::number($oldExtras, $oldAt);
        $new->change(['extras' => substr_replace($extras, self::IS_MOMENT . pack('J', $latestUs), $at, 9)]);
        if (!$new->isBuried) {
            $new->dueUs = min($new->dueUs, $latestUs);
        }
    }

    /** A job that came back was served: the next debounce begins. */
    private static function hasComeBack(Entry $entry): bool
    {
        $info = $entry->info;

        return !$entry->isWaiting() || $info->attempts + $info->timeouts + $info->buries + $info->kicks > 0;
    }

    private static function limitAt(string $extras): ?int
    {
        return Traits::at($extras, 'w', 9);
    }

    private static function number(string $extras, int $at): int
    {
        return unpack('J', $extras, $at + 1)[1];
    }
}
