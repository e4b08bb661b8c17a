<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

use DelayQueue;
use DelayQueue\Internal\OwnHeaders;
use DelayQueue\PayloadException;
use DelayQueue\PreparedJob;
use DelayQueue\QueueInterface;
use TypeError;
use ValueError;

/**
 * A job as users of chains and batches write it: the keys of pushMany(), and `queue`.
 *
 * @internal
 */
final class Item
{
    private const KEYS = [
        'payload' => 1, 'delay' => 1, 'id' => 1, 'priority' => 1, 'ttr' => 1, 'maxAttempts' => 1, 'backoff' => 1, 'timeout' => 1, 'headers' => 1,
        'expires' => 1, 'onExpiry' => 1, 'retryUntil' => 1, 'group' => 1, 'queue' => 1,
    ];

    /** Queues that hold chains and batches themselves. */
    private const RESERVED = [ChainStore::QUEUE, BatchStore::QUEUE];

    /** @param array<string, mixed> $job for pushMany() of $target */
    private function __construct(
        public readonly QueueInterface $target,
        public readonly array $job,
        public readonly string $id,
        public readonly int $partitions,
    ) {
    }

    /**
     * @param bool $mayHaveId whether users choose the id
     * @param string $what it is, for errors
     *
     * @throws TypeError|ValueError
     */
    public static function check(mixed $job, bool $mayHaveId, string $what): void
    {
        is_array($job) || throw new TypeError("$what must be of type array, " . get_debug_type($job) . ' given');
        $unknown = array_key_first(array_diff_key($job, $mayHaveId ? self::KEYS : array_diff_key(self::KEYS, ['id' => 1])));
        $unknown === null || throw new ValueError("$what must not have the key \"$unknown\"");
        array_key_exists('payload', $job) || throw new ValueError("$what: \"payload\" must be given");
    }

    /**
     * @param array<string, mixed> $job see check()
     * @param QueueInterface $queue of the chain or batch
     * @param array<string, string> $headers of ours
     * @param array<string, QueueInterface> $siblings that were opened, by their names
     * @param PreparedJob|null $prepared is set to the job as it would be stored
     *
     * @throws TypeError|ValueError
     */
    public static function of(
        array $job,
        QueueInterface $queue,
        string $what,
        array $headers = [],
        array &$siblings = [],
        ?PreparedJob &$prepared = null,
    ): self {
        $to = $job['queue'] ?? $queue;
        unset($job['queue']);
        $target = is_string($to) && isset($siblings[$to]) ? $siblings[$to] : self::target($to, $queue, $what);
        if (is_string($to)) {
            $siblings[$to] = $target;
        }
        $given = $job['headers'] ?? [];
        if (is_array($given)) {
            $ours = array_key_first(OwnHeaders::of($given));
            $ours === null || throw new ValueError("$what: \"headers\" must not have $ours: names that begin with dq- belong to this package");
            $job['headers'] = $headers + $given;
        }
        try {
            $prepared = $target->prepare(...$job);
        } catch (PayloadException $error) {
            throw new ValueError("$what: {$error->getMessage()}", 0, $error);
        } catch (TypeError | ValueError $error) {
            throw self::named($error, $what);
        }
        if ($target !== $queue && $prepared->isSealed !== $queue->prepare('')->isSealed) {
            throw new ValueError("$what: \"queue\" must have the same keys as queue '{$queue->name()}', or none, as that");
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
            throw self::named($error, $what);
        }
        if (in_array($target->name(), self::RESERVED, true)) {
            throw new ValueError("$what: \"queue\" must not be '{$target->name()}', where chains and batches lie");
        }
        if ($target instanceof DelayQueue && $queue instanceof DelayQueue && [$target->dsn(), $target->prefix()] !== [$queue->dsn(), $queue->prefix()]) {
            throw new ValueError("$what: \"queue\" must be on the same Redis and under the same prefix as queue '{$queue->name()}'");
        }

        return $target;
    }

    private static function named(TypeError | ValueError $error, string $what): TypeError | ValueError
    {
        $isKnown = preg_match('/::(?:prepare|sibling)\(\): Argument #\d+ \(\$(\w+)\) (.*)$/sD', $error->getMessage(), $found) === 1;

        return $isKnown ? new ($error::class)("$what: \"$found[1]\" $found[2]", 0, $error) : $error;
    }
}
