<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

use DelayQueue;
use DelayQueue\OnExpiry;
use DelayQueue\PayloadException;
use DelayQueue\PreparedJob;
use DelayQueue\QueueInterface;
use TypeError;
use ValueError;

/**
 * A job as users of batches write it: the keys of pushMany(), and `queue`.
 *
 * @internal
 */
final class BatchItem
{
    private const KEYS = [
        'payload' => 1, 'delay' => 1, 'id' => 1, 'priority' => 1, 'ttr' => 1, 'maxAttempts' => 1, 'backoff' => 1, 'timeout' => 1, 'headers' => 1,
        'expires' => 1, 'onExpiry' => 1, 'retryUntil' => 1, 'group' => 1, 'queue' => 1,
    ];

    /** @param array<string, mixed> $job for pushMany() of $target */
    private function __construct(
        public readonly QueueInterface $target,
        public readonly array $job,
        public readonly string $id,
        public readonly int $partitions,
    ) {
    }

    /**
     * @param mixed $job
     * @param array<string, string> $headers of ours
     * @param string $what it is, for errors
     * @param array<string, QueueInterface> $siblings that were opened, by their names
     * @param PreparedJob|null $prepared is set to the job as it would be stored
     *
     * @throws TypeError|ValueError
     */
    public static function of(mixed $job, QueueInterface $queue, array $headers, string $what, array &$siblings = [], ?PreparedJob &$prepared = null): self
    {
        is_array($job) || throw new TypeError("$what must be of type array, " . get_debug_type($job) . ' given');
        $unknown = array_key_first(array_diff_key($job, self::KEYS));
        $unknown === null || throw new ValueError("$what has the key \"$unknown\", which jobs of a batch do not have");
        array_key_exists('payload', $job) || throw new ValueError("$what: \"payload\" must be given");
        ($job['id'] ?? '') !== '' || throw new ValueError("$what: \"id\" must be given");
        if (($job['onExpiry'] ?? null) === OnExpiry::Drop) {
            throw new ValueError("$what: \"onExpiry\" must not be OnExpiry::Drop: nobody would hear that the job is gone");
        }
        $clash = array_key_first(array_intersect_key((array) ($job['headers'] ?? []), [Batch::HEADER => 1, Batch::FAILURE => 1]));
        $clash === null || throw new ValueError("$what: \"headers\" must not have $clash, which batches use");
        $job['headers'] = $headers + (array) ($job['headers'] ?? []);
        $to = $job['queue'] ?? $queue;
        $target = is_string($to) && isset($siblings[$to]) ? $siblings[$to] : self::target($to, $queue, $what);
        if (is_string($to)) {
            $siblings[$to] = $target;
        }
        unset($job['queue']);
        try {
            $prepared = $target->prepare(...$job);
        } catch (PayloadException $error) {
            throw new ValueError("$what: {$error->getMessage()}", 0, $error);
        } catch (TypeError | ValueError $error) {
            throw self::named($error, 'prepare', $what);
        }
        if ($target !== $queue && $prepared->isSealed !== $queue->prepare('')->isSealed) {
            throw new ValueError("$what: \"queue\" must have keys, as that of the batch, or none, as that");
        }

        return new self($target, $job, $prepared->id, $prepared->partitions);
    }

    private static function target(mixed $to, QueueInterface $queue, string $what): QueueInterface
    {
        try {
            $target = match (true) {
                $to instanceof QueueInterface => $to,
                is_string($to) => $to === $queue->name() ? $queue : $queue->sibling($to),
                default => throw new TypeError("$what: \"queue\" must be of type DelayQueue\\QueueInterface|string, " . get_debug_type($to) . ' given'),
            };
        } catch (ValueError $error) {
            throw self::named($error, 'sibling', $what);
        }
        if ($target->name() === BatchStore::QUEUE) {
            throw new ValueError("$what: \"queue\" must not be '" . BatchStore::QUEUE . "', which holds the batches themselves");
        }
        if ($target instanceof DelayQueue && $queue instanceof DelayQueue && [$target->dsn(), $target->prefix()] !== [$queue->dsn(), $queue->prefix()]) {
            throw new ValueError("$what: \"queue\" must have the Redis and the prefix of the batch");
        }

        return $target;
    }

    private static function named(TypeError | ValueError $error, string $method, string $what): TypeError | ValueError
    {
        $isKnown = preg_match("/::$method\\(\\): Argument #\\d+ \\(\\$(\\w+)\\) (.*)\$/sD", $error->getMessage(), $found) === 1;

        return $isKnown ? new ($error::class)("$what: \"$found[1]\" $found[2]", 0, $error) : $error;
    }
}
