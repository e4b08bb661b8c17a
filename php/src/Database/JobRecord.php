<?php

declare(strict_types=1);

namespace DelayQueue\Database;

use DelayQueue\Database\Internal\Dialect;

/** A job as the journal knows it. Times are Unix seconds, each by the clock of the host that has told of it. */
final class JobRecord
{
    public const ENDED = ['done', 'cancelled', 'gone'];
    public const STATES = ['waiting', 'released', 'failed', 'timedOut', 'buried', ...self::ENDED];

    /** @param list<array{attempt: int, began: float, duration: float, outcome: string, worker: string, error: ?string}> $runs the last 20, newest first */
    private function __construct(
        public readonly string $queue,
        public readonly string $id,
        public readonly float $createdAt,
        public readonly ?float $dueAt,
        /** In STATES. */
        public readonly string $state,
        public readonly int $attempts,
        /** The last run; null: there was none. */
        public readonly ?float $beganAt,
        public readonly ?float $endedAt,
        public readonly ?string $worker,
        /** Of the last run, with all its lines. */
        public readonly ?string $error,
        /** Bytes; null: not kept. */
        public readonly ?string $payload,
        public readonly array $runs,
        /** Null: it has none, or what a push has was not kept with the payload. */
        public readonly ?string $group,
    ) {
    }

    /**
     * @internal
     *
     * @param array<string, int|float|string|null> $row
     */
    public static function read(array $row, Dialect $dialect): self
    {
        // A PDO may give null as ''.
        $seconds = static fn (int|float|string|null $us): ?float => (string) $us === '' ? null : (int) $us / 1e6;
        $payload = $row['payload'] === null ? null : $dialect->read((string) $row['payload']);
        $runs = [];
        foreach (explode("\n", (string) $row['runs']) as $line) {
            // The oldest line may be cut. Of a run that was told of twice the newest word counts.
            if (is_array($run = json_decode($line, true))) {
                $runs["$run[0] $run[1]"] ??= array_combine(['attempt', 'began', 'duration', 'outcome', 'worker', 'error'], [$run[0], $run[1] / 1e6, ...array_slice($run, 2)]);
            }
        }
        usort($runs, static fn (array $a, array $b): int => $b['began'] <=> $a['began']);

        return new self(
            (string) $row['queue'], (string) $row['job'], (int) $row['made'] / 1000, $seconds($row['due']), (string) $row['state'], (int) $row['attempts'],
            $seconds($row['began']), $seconds($row['ended']), $row['worker'] ?: null, $row['error'] ?: null, $payload, array_slice($runs, 0, 20),
            json_decode((string) $row['options'], true)['group'] ?? null,
        );
    }
}
