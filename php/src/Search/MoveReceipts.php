<?php

declare(strict_types=1);

namespace DelayQueue\Search;

use DelayQueue\JobInfo;
use DelayQueue\QueueInterface;

/**
 * The receipts of moved jobs, in the queue that the jobs move to. The name of a receipt has the job's id and when it was created: another job of that
 * id has another one. It is forgotten when the job is gone from its old queue.
 *
 * @internal
 */
final class MoveReceipts
{
    private const PREFIX = 'move/';

    /** Longer names and ids are hashed: a receipt has at most 200 bytes. */
    private const LONGEST = 80;

    /** Marks a hashed id. */
    private const HASHED = '/long-';

    /**
     * Of receipts whose jobs are here all the same, by their names without the ends: the id, '' for a hashed one, and the end.
     *
     * @var array<array-key, array{string, int}>
     */
    private array $old;

    public function __construct(private readonly QueueInterface $source, private readonly QueueInterface $target)
    {
        // The other way round, too: a job that moves back must not meet the receipt of its first move.
        self::forgetDone($target, $source);
        $this->old = self::forgetDone($source, $target);
    }

    /** Whether both are one queue, under any address: only then one sees what the other has stored. */
    public static function areOne(QueueInterface $source, QueueInterface $target): bool
    {
        if ($source->name() !== $target->name()) {
            return false;
        }
        $receipt = self::PREFIX . 'same/' . bin2hex(random_bytes(8));
        $target->pushOnce([['receipt' => $receipt]]);
        $isThere = $source->receipts(prefix: $receipt) !== [];
        $target->forgetReceipts($receipt);

        return $isThere;
    }

    /** Its end says how many leases of the job had ended when the move began. */
    public function of(JobInfo $job): string
    {
        $name = $this->name($job);

        return "$name-" . ($this->old[$name][1] ?? $job->timeouts);
    }

    public function forget(JobInfo $job): void
    {
        $this->target->forgetReceipts($this->of($job));
        unset($this->old[$this->name($job)]);
    }

    /** Whether the target had it before this move. */
    public function isOld(JobInfo $job): bool
    {
        return isset($this->old[$this->name($job)]);
    }

    /** Whether one lease has ended since that move began: its own, or else the job had come back before. */
    public function hasOutlived(JobInfo $job): bool
    {
        return $this->isOld($job) && $job->timeouts === $this->old[$this->name($job)][1] + 1;
    }

    /** @return list<string> of jobs with such a receipt, or of others that have their ids now */
    public function ids(): array
    {
        return array_values(array_filter(array_column($this->old, 0), static fn (string $id): bool => $id !== ''));
    }

    /**
     * Receipts whose jobs are gone from their old queue: a move was killed before it could forget them.
     *
     * @return array<array-key, array{string, int}> the others, as $old has them
     */
    private static function forgetDone(QueueInterface $source, QueueInterface $target): array
    {
        $others = [];
        $prefix = self::prefix($source);
        foreach ($target->receipts(prefix: $prefix, limit: PHP_INT_MAX) as $name) {
            $end = (int) strrpos($name, '/');
            $id = substr($name, strlen($prefix), max(0, $end - strlen($prefix)));
            $id = str_starts_with(substr($name, $end), self::HASHED) ? '' : $id;
            if ($id !== '' && $source->peek($id) === null) {
                $target->forgetReceipts($name);
            } else {
                $dash = (int) strrpos($name, '-');
                $others[substr($name, 0, $dash)] = [$id, (int) substr($name, $dash + 1)];
            }
        }

        return $others;
    }

    private function name(JobInfo $job): string
    {
        $created = sprintf('%.0F', $job->createdAt * 1000);

        $isLong = strlen($job->id) > self::LONGEST;

        return self::prefix($this->source) . ($isLong ? hash('sha256', $job->id) . self::HASHED : "$job->id/") . $created;
    }

    private static function prefix(QueueInterface $source): string
    {
        $name = $source->name();

        return self::PREFIX . (strlen($name) > self::LONGEST ? hash('sha256', $name) : $name) . '/';
    }
}
