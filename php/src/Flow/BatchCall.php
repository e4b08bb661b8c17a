<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

use DelayQueue\Backoff;
use DelayQueue\DuplicateJobException;
use DelayQueue\Internal\Moment;
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
     * @param array<string, mixed>|null $job
     * @param string $what it is, for errors
     *
     * @return array<string, mixed>|null JSON has a place for all of it
     *
     * @throws TypeError|ValueError
     */
    public static function of(?array $job, QueueInterface $queue, string $id, string $what): ?array
    {
        if ($job === null) {
            return null;
        }
        Item::check($job, false, $what);
        BatchMembers::checkExpiry($job, $what);
        // So much room is needed for the header that tells of the member.
        $headers = [Batch::FAILURE => str_repeat('x', self::HEADER_BYTES)];
        $siblings = [];
        $item = Item::of(['id' => $id] + $job, $queue, $what, $headers, $siblings, $prepared);

        return [
            'queue' => $item->target->name(),
            'partitions' => $prepared->partitions,
            'id' => $id,
            'body' => base64_encode($prepared->body),
            'headers' => array_diff_key($prepared->headers, $headers),
            'delay' => $prepared->delay,
            'dueAt' => $prepared->dueAt,
            'priority' => $prepared->priority,
            'ttr' => $prepared->ttr,
            'maxAttempts' => $prepared->maxAttempts,
            'backoff' => (string) $prepared->backoff,
            'timeout' => $prepared->timeout,
            'extras' => base64_encode((string) $prepared->extras),
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
        $body = (string) base64_decode($call['body'], true);
        $extras = (string) base64_decode($call['extras'], true);
        try {
            $target->pushMany([[
                'id' => $call['id'],
                'payload' => $body,
                'delay' => $call['dueAt'] === null ? $call['delay'] : Moment::of((float) $call['dueAt']),
                'backoff' => Backoff::parse($call['backoff']),
                'headers' => $headers + $call['headers'],
                'extras' => $extras === '' ? null : $extras,
                'unique' => BatchStore::TAKEN,
            ] + array_intersect_key($call, ['priority' => 1, 'ttr' => 1, 'maxAttempts' => 1, 'timeout' => 1])]);
        } catch (DuplicateJobException $error) {
            // No job under an id that is taken: it was pushed before, and is done.
            $there = $target->peek($call['id']);
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
        // The payload was checked by start().
        return $queue->sibling($call['queue'], ['partitions' => $call['partitions'], 'format' => 'raw', 'maxPayload' => 512 << 20]);
    }
}
