<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

use DelayQueue\Internal\GivenJob;
use DelayQueue\Internal\Invalid;
use DelayQueue\Internal\OwnHeaders;
use DelayQueue\InvalidArgument;
use DelayQueue\PayloadException;
use DelayQueue\PreparedJob;
use DelayQueue\QueueInterface;
use TypeError;
use ValueError;

/**
 * A job as users of chains and batches write it: a NewJob, or an array with its properties as keys, and `queue` where it is for another queue.
 *
 * @internal
 */
final class Item
{
    /** Chains and batches decide whether a job may be pushed. */
    private const NOT_HERE = ['onDuplicate', 'unique', 'maxWait', 'extras'];

    /** Queues that hold chains and batches themselves. */
    private const RESERVED = [ChainStore::QUEUE, BatchStore::QUEUE];

    /** @param array<string, mixed> $job without `queue` */
    private function __construct(public readonly array $job, private readonly mixed $queue, public readonly string $what)
    {
    }

    /**
     * @param bool $mayHaveId whether users choose the id
     * @param string $what it is, for errors
     *
     * @throws TypeError|ValueError
     */
    public static function of(mixed $job, bool $mayHaveId, string $what): self
    {
        $queue = is_array($job) ? $job['queue'] ?? null : null;
        if (is_array($job)) {
            unset($job['queue']);
        }

        return new self(GivenJob::read($job, $what, $mayHaveId ? self::NOT_HERE : ['id', ...self::NOT_HERE]), $queue, $what);
    }

    /** The same for a job that says otherwise where it stands. */
    public function called(string $what): self
    {
        return new self($this->job, $this->queue, $what);
    }

    public function withId(string $id): self
    {
        return new self(['id' => $id] + $this->job, $this->queue, $this->what);
    }

    /**
     * The job with our headers, and where it goes.
     *
     * @param QueueInterface $queue of the chain or batch
     * @param array<string, string> $headers of ours
     * @param array<string, QueueInterface> $siblings that were opened, by their names
     * @param PreparedJob|null $prepared is set to the job as it would be stored
     *
     * @throws TypeError|ValueError
     */
    public function place(QueueInterface $queue, array $headers = [], array &$siblings = [], ?PreparedJob &$prepared = null): Placed
    {
        $to = $this->queue ?? $queue;
        $target = is_string($to) && isset($siblings[$to]) ? $siblings[$to] : $this->target($to, $queue);
        if (is_string($to)) {
            $siblings[$to] = $target;
        }
        $job = $this->job;
        $given = $job['headers'] ?? [];
        if (is_array($given)) {
            $ours = array_key_first(OwnHeaders::of($given));
            $ours === null || throw Invalid::key($this->what, 'headers', "must not have $ours: names that begin with dq- belong to this package");
            $job['headers'] = $headers + $given;
        }
        try {
            $prepared = $target->prepare($job);
        } catch (PayloadException $error) {
            throw new ValueError("$this->what: {$error->getMessage()}", 0, $error);
        } catch (TypeError | ValueError $error) {
            throw GivenJob::wrong($error, $this->what);
        }
        if ($target !== $queue && $target->settings()->isSealed !== $queue->settings()->isSealed) {
            throw Invalid::key($this->what, 'queue', "must have the same keys as queue '{$queue->name()}', or none, as that");
        }

        return new Placed($target, $job);
    }

    private function target(mixed $to, QueueInterface $queue): QueueInterface
    {
        try {
            $target = match (true) {
                $to instanceof QueueInterface => $to,
                is_string($to) => $to === $queue->name() ? $queue : $queue->sibling($to),
                default => throw new TypeError("$this->what: \"queue\" must be of type DelayQueue\\QueueInterface|string, " . get_debug_type($to) . ' given'),
            };
        } catch (InvalidArgument $error) {
            throw GivenJob::wrong($error, $this->what);
        }
        if (in_array($target->name(), self::RESERVED, true)) {
            throw Invalid::key($this->what, 'queue', "must not be '{$target->name()}', where chains and batches lie");
        }
        [$there, $here] = [$target->settings(), $queue->settings()];
        if ([$there->dsn, $there->prefix] !== [$here->dsn, $here->prefix]) {
            throw Invalid::key($this->what, 'queue', "must be on the same Redis and under the same prefix as queue '{$queue->name()}'");
        }

        return $target;
    }
}
