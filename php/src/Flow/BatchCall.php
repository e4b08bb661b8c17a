<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

use DelayQueue\Backoff;
use DelayQueue\DuplicateJobException;
use DelayQueue\Internal\Moment;
use DelayQueue\Internal\StoredJob;
use DelayQueue\NewJob;
use DelayQueue\QueueInterface;
use TypeError;
use ValueError;

/**
 * A job that a batch pushes later, as the batch's definition has it: `then`, or that of onFailure.
 *
 * @internal
 */
final class BatchCall
{
    private const HEADER_BYTES = 3072;

    /**
     * @param NewJob|array<string, mixed>|null $job
     * @param string $what it is, for errors
     *
     * @return array<string, mixed>|null JSON has a place for all of it
     *
     * @throws TypeError|ValueError
     */
    public static function of(NewJob|array|null $job, QueueInterface $queue, string $id, string $what): ?array
    {
        if ($job === null) {
            return null;
        }
        $item = Item::of($job, false, $what);
        BatchMembers::checkExpiry($item->job, $what);
        // So much room is needed for the header that tells of the member.
        $headers = [Batch::FAILURE => str_repeat('x', self::HEADER_BYTES)];
        $siblings = [];
        $target = $item->withId($id)->place($queue, $headers, $siblings, $prepared)->target;

        return [
            'queue' => $target->name(),
            'partitions' => $target->settings()->partitions,
            'delay' => $prepared->delay,
            'dueAt' => $prepared->dueAt,
            'job' => [
                'payload' => base64_encode($prepared->body),
                'headers' => array_diff_key($prepared->headers, $headers),
                'backoff' => (string) $prepared->backoff,
                'extras' => $prepared->extras === null ? null : base64_encode($prepared->extras),
            ] + StoredJob::item($prepared),
        ];
    }

    /**
     * Pushes it, unless that was done before.
     *
     * @param array<string, mixed> $call
     * @param QueueInterface $queue any of the same Redis
     * @param array<string, string> $headers added to its own
     *
     * @throws DuplicateJobException when another job has its id
     */
    public static function push(array $call, QueueInterface $queue, array $headers): void
    {
        $target = self::target($call, $queue);
        $job = $call['job'];
        $body = (string) base64_decode($job['payload'], true);
        try {
            $target->pushMany([[
                'payload' => $body,
                'delay' => $call['dueAt'] === null ? $call['delay'] : Moment::of((float) $call['dueAt']),
                'backoff' => Backoff::parse($job['backoff']),
                'headers' => $headers + $job['headers'],
                'extras' => $job['extras'] === null ? null : (string) base64_decode($job['extras'], true),
                'unique' => BatchStore::TAKEN,
            ] + $job]);
        } catch (DuplicateJobException $error) {
            // No job under an id that is taken: it was pushed before, and is done.
            $there = $target->peek($job['id']);
            $there === null || $there->body === $body || throw $error;
        }
    }

    /** @param array<string, mixed> $call */
    public static function pushFailed(array $call, BatchStore $store, string $member, string $queue, string $error): void
    {
        $json = Failure::header(['batch' => $store->name, 'id' => $member, 'queue' => $queue], $error);
        self::push($call, $store->queue, [Batch::FAILURE => $json]);
    }

    /** @param array<string, mixed> $call */
    private static function target(array $call, QueueInterface $queue): QueueInterface
    {
        return $queue->sibling($call['queue'], ['partitions' => $call['partitions']] + StoredJob::QUEUE);
    }
}
