<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

use DelayQueue\DuplicateJobException;
use DelayQueue\Internal\Invalid;
use DelayQueue\Internal\Moment;
use DelayQueue\Internal\StoredJob;
use DelayQueue\JobInfo;
use DelayQueue\OnDuplicate;
use DelayQueue\PreparedJob;
use DelayQueue\QueueInterface;
use TypeError;
use ValueError;

/**
 * A link as users write it, and the copy of it that waits in the queue `chains`: a job with the link's own options, and a header that says where it goes.
 *
 * @internal
 */
final class ChainLink
{
    /** Queue, number of partitions, and delay or moment of a link. Only its copy has this header. */
    public const TO = 'dq-chain-to';

    /** All headers of a job may be 64, with 8 KiB. The rest is for ours. */
    private const MAX_HEADERS = 60;

    private const MAX_HEADER_BYTES = 3584;

    private function __construct(public readonly PreparedJob $job, public readonly QueueInterface $queue)
    {
    }

    /** @throws TypeError|ValueError */
    public static function prepare(Item $link, QueueInterface $queue): self
    {
        $target = $link->place($queue, prepared: $prepared)->target;
        $headers = $prepared->headers;
        if (count($headers) > self::MAX_HEADERS || strlen(implode('', array_keys($headers)) . implode('', $headers)) > self::MAX_HEADER_BYTES) {
            $limits = 'at most ' . self::MAX_HEADERS . ' headers, with ' . self::MAX_HEADER_BYTES . ' bytes of names and values together';
            throw Invalid::key($link->what, 'headers', "must have $limits: the chain needs the rest of 64 and 8192");
        }

        return new self($prepared, $target);
    }

    /**
     * For pushMany() of the queue `chains`.
     *
     * @param array<string, string> $headers of ours
     *
     * @return array<string, mixed>
     */
    public function copy(string $id, array $headers, int $delay): array
    {
        $due = $this->job->dueAt === null ? ['delay' => (int) round($this->job->delay * 1000) . 'ms'] : ['dueAt' => $this->job->dueAt];
        $to = json_encode(['queue' => $this->queue->name(), 'partitions' => $this->queue->settings()->partitions] + $due, JSON_THROW_ON_ERROR);

        return [
            'id' => $id,
            'delay' => $delay,
            'headers' => $headers + [self::TO => $to] + $this->job->headers,
            // The entry of the chain decides whether it may be stored.
            'onDuplicate' => OnDuplicate::Replace,
        ] + StoredJob::item($this->job);
    }

    /**
     * Pushes the link that this copy is of, unless it is in its queue.
     *
     * @param QueueInterface $queue any of the same Redis
     * @param array<string, string> $headers added to those of the link
     *
     * @return QueueInterface|null the queue to which it has been pushed; null: it was there
     *
     * @throws DuplicateJobException when another job has its id
     */
    public static function push(JobInfo $copy, string $id, QueueInterface $queue, array $headers): ?QueueInterface
    {
        [$target, $job] = self::job($copy, $id, $queue, $headers);
        try {
            $target->pushMany([$job]);
        } catch (DuplicateJobException $error) {
            $there = $target->peek($id);
            if ($there !== null && ($there->headers[Chain::HEADER] ?? null) !== $copy->headers[Chain::HEADER]) {
                throw $error;
            }

            return null;
        }

        return $target;
    }

    /**
     * Pushes the job of onFailure() that this copy is of, once for a receipt. Its worker need not know chains, so nobody cancels the copy when it is done.
     *
     * @param QueueInterface $queue any of the same Redis
     * @param array<string, string> $headers added to those of the job
     *
     * @return QueueInterface the queue of the job, which has the receipt
     *
     * @throws DuplicateJobException when another job has its id
     */
    public static function pushFailed(JobInfo $copy, string $receipt, QueueInterface $queue, array $headers): QueueInterface
    {
        [$target, $job] = self::job($copy, $copy->id, $queue, $headers);
        if ($target->pushOnce([['receipt' => $receipt] + $job])->kept > 0 && !isset($target->peek($copy->id)?->headers[Chain::FAILURE])) {
            $target->forgetReceipts($receipt);
            throw new DuplicateJobException("job '$copy->id' in queue '{$target->name()}' is another one than that of onFailure()");
        }

        return $target;
    }

    /**
     * @param array<string, string> $headers added to those of the copy
     *
     * @return array{QueueInterface, array<string, mixed>} the queue that the copy is for, and the job for pushMany()
     */
    private static function job(JobInfo $copy, string $id, QueueInterface $queue, array $headers): array
    {
        $to = json_decode($copy->headers[self::TO], true, flags: JSON_THROW_ON_ERROR);

        return [$queue->sibling($to['queue'], ['partitions' => $to['partitions']] + StoredJob::QUEUE), [
            'id' => $id,
            'delay' => isset($to['dueAt']) ? Moment::of((float) $to['dueAt']) : $to['delay'],
            'headers' => $headers + array_diff_key($copy->headers, [self::TO => true]),
        ] + StoredJob::item($copy)];
    }
}
