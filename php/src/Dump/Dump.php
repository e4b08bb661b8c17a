<?php

declare(strict_types=1);

namespace DelayQueue\Dump;

use DelayQueue\JobInfo;
use DelayQueue\QueueInterface;
use DelayQueue\State;

/**
 * Every job of a queue, one after another, in the memory of a page of them:
 *
 *     foreach (Dump::lines($queue) as $line) {
 *         fwrite($file, "$line\n");
 *     }
 *
 * A dump is a snapshot of each page, not of the whole. Of a queue that is in use, a job that keeps its state and its time is there once. Jobs
 * that change them meanwhile can be missing or there twice: pause the queue, and let its workers finish, for an exact dump. A queue without
 * keys shows its sealed jobs as they are stored.
 */
final class Dump
{
    /** In the direction that jobs move, so that one that moves is rather there twice than missing. */
    private const STATES = [State::Delayed, State::Ready, State::Reserved, State::Buried];

    /** @return iterable<int, JobInfo> the jobs of these states, in this order; none named: of all */
    public static function jobs(QueueInterface $queue, State ...$states): iterable
    {
        $pages = new JobPages($queue);
        foreach ($states ?: self::STATES as $state) {
            foreach ($pages->of($state) as $job) {
                yield $job;
            }
        }
    }

    /**
     * Of each queue the limits, if they are asked for; the jobs; then the receipts of pushOnce(), but for those that a
     * load has given, and the ids that are taken for some time. Pauses, and what is left of a rate, are never in it.
     * The last line says that the dump is whole.
     *
     * @param QueueInterface|iterable<QueueInterface> $queues one, or several for one dump
     *
     * @return iterable<int, string> a line of JSON for each, without the line's end, for Load
     */
    public static function lines(QueueInterface|iterable $queues, bool $limits = false): iterable
    {
        $dump = bin2hex(random_bytes(8));
        $number = 0;
        foreach ($queues instanceof QueueInterface ? [$queues] : $queues as $queue) {
            foreach (self::linesOf($queue, $limits, $dump) as $line) {
                yield $number++ => $line;
            }
        }
        yield $number => Wholeness::end($dump, $number);
    }

    /** @return iterable<string> */
    private static function linesOf(QueueInterface $queue, bool $limits, string $dump): iterable
    {
        // Read before the jobs: a receipt without its job would keep the job from ever being pushed.
        [$receipts, $takenIds] = [$queue->receipts(limit: PHP_INT_MAX), $queue->takenIds()];
        // Before the jobs, so that they hold from the first one that is loaded.
        yield from $limits ? LimitsLine::writeAll($queue->name(), $queue->limits(), $dump) : [];
        foreach (self::jobs($queue) as $job) {
            yield JobLine::write($job, $dump);
        }
        foreach ($receipts as $receipt) {
            if (!str_starts_with($receipt, Load::RECEIPTS)) {
                yield ReceiptLine::write($queue->name(), $receipt, $dump);
            }
        }
        foreach ($takenIds as ['id' => $id, 'until' => $until]) {
            yield TakenIdLine::write($queue->name(), $id, $until, $dump);
        }
    }
}
