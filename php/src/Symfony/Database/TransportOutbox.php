<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Database;

use Closure;
use DelayQueue;
use DelayQueue\Database\Outbox;
use DelayQueue\Database\Schema;
use DelayQueue\Database\SchemaException;
use DelayQueue\DuplicateJobException;
use DelayQueue\Exception as DelayQueueException;
use DelayQueue\Internal\Moment;
use DelayQueue\OnDuplicate;
use DelayQueue\Symfony\Transport\MessageEnds;
use DelayQueue\Symfony\Transport\Queues;
use Doctrine\DBAL\Connection;
use LogicException;
use Symfony\Component\Lock\Key;
use Symfony\Component\Messenger\Exception\InvalidArgumentException;
use Symfony\Component\Messenger\Exception\TransportException;

/**
 * The outbox of one transport: its messages are rows of the application's own transactions.
 *
 * @internal
 */
final class TransportOutbox
{
    private ?DbalConnection $database = null;

    private ?Outbox $outbox = null;

    /** @var list<Key> locks of messages that the open transaction has pushed */
    private array $pushed = [];

    /** @var list<Key> locks of messages whose rows it has deleted */
    private array $cancelled = [];

    /** @param Closure(): Connection $connect gives the application's connection when it is needed */
    public function __construct(
        private readonly Closure $connect,
        private readonly Queues $queues,
        private readonly MessageEnds $ends,
    ) {
    }

    public function isInTransaction(): bool
    {
        return $this->database()->isInTransaction();
    }

    /**
     * In a transaction a row of it; outside of one a push, which becomes a row where Redis cannot be reached. When a row reaches Redis nobody hears of a
     * duplicate, so Fail is Keep.
     *
     * @param array<string, mixed> $job as Outbox::push() takes it
     *
     * @return non-empty-string the id
     *
     * @throws TransportException when the tables are missing; what the database's driver throws passes through
     */
    public function push(array $job): string
    {
        if ($job['delay'] < 0) {
            $job['delay'] = Moment::of(microtime(true) + $job['delay']); // In the past, by whatever clock: Redis may be away.
        }

        return $this->asked(
            fn (Outbox $outbox): string => $this->isInTransaction()
                ? $this->pushRow($outbox, $job)
                : $this->pushNow($outbox, $job),
        );
    }

    /** @param array<string, mixed> $job */
    private function pushRow(Outbox $outbox, array $job): string
    {
        $id = $outbox->push($this->queues->settings->queue, $job);
        array_push($this->pushed, ...$this->locksOf([$job['payload']]));

        return $id;
    }

    /** @param array<string, mixed> $job */
    private function pushNow(Outbox $outbox, array $job): string
    {
        $queue = $this->queues->settings->queue;
        if (($job['onDuplicate'] ?? null) === OnDuplicate::Replace) {
            return $outbox->pushNow($queue, $job);
        }
        try {
            return $outbox->pushNow($queue, ['onDuplicate' => OnDuplicate::Fail] + $job); // which tells
        } catch (DuplicateJobException) {
            $this->ends->ended($job['payload']);

            return (string) $job['id'];
        }
    }

    /**
     * Where a message's row waits it is deleted; the message in Redis is cancelled now, or with the transaction.
     *
     * @return bool whether there was one; true where Redis does not answer
     */
    public function cancel(string $id): bool
    {
        return $this->asked(function (Outbox $outbox) use ($id): bool {
            $queue = $this->queues->own();
            $isOpen = $this->isInTransaction();
            try {
                $job = $queue->peek($id);
                $found = $job !== null && ($isOpen || $this->ends->cancel($queue, $job) > 0);
            } catch (DelayQueueException) {
                $found = true; // Away, loading, or read-only: the relay asks later.
            }
            $name = $this->queues->settings->queue;
            $locks = $this->ends->isUsed() ? $this->locksOf($outbox->payloads($name, $id)) : [];
            $isDeleted = $outbox->cancel($name, $id) > 0;
            $isOpen
                ? array_push($this->cancelled, ...$locks)
                : array_map($this->ends->release(...), $isDeleted ? $locks : []);

            return $isDeleted || $found;
        });
    }

    public function install(): void
    {
        $this->asked(fn () => Schema::install($this->database()));
    }

    public function queues(): Queues
    {
        return $this->queues;
    }

    public function ends(): MessageEnds
    {
        return $this->ends;
    }

    public function database(): DbalConnection
    {
        return $this->database ??= new DbalConnection(($this->connect)());
    }

    /**
     * @template T
     *
     * @param Closure(Outbox): T $work
     *
     * @return T
     */
    private function asked(Closure $work): mixed
    {
        try {
            return $work($this->outbox ??= $this->open());
        } catch (SchemaException $error) {
            throw new TransportException($error->getMessage(), 0, $error);
        }
    }

    private function open(): Outbox
    {
        $queues = new RowQueues(fn (): DelayQueue => $this->queues->own(), [$this->ends]);
        $outbox = new Outbox($this->database(), $queues);
        try {
            $this->database()->flushAfterCommit($outbox, $this->ended(...));
        } catch (LogicException $error) {
            throw new InvalidArgumentException("The outbox \"{$this->queues->settings->outbox}\" cannot be used: {$error->getMessage()}", 0, $error);
        }

        return $outbox;
    }

    /** The transaction has ended: messages that it has pushed exist only now, or never did. */
    private function ended(bool $committed): void
    {
        $locks = $committed ? $this->cancelled : $this->pushed;
        [$this->pushed, $this->cancelled] = [[], []];
        array_map($this->ends->release(...), $locks);
    }

    /**
     * @param list<string> $payloads
     *
     * @return list<Key>
     */
    private function locksOf(array $payloads): array
    {
        return array_values(array_filter(array_map($this->ends->lockOf(...), $payloads)));
    }
}
