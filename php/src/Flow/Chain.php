<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

use DelayQueue\ConnectionException;
use DelayQueue\DuplicateJobException;
use DelayQueue\JobInterface;
use DelayQueue\NewJob;
use DelayQueue\QueueInterface;
use DelayQueue\SealException;
use DelayQueue\ServerException;
use JsonException;
use TypeError;
use ValueError;

/**
 * Jobs that come one after the other, each when the one before is done:
 *
 *     Chain::of(
 *         ['payload' => ['task' => 'fetch', 'params' => 7], 'id' => 'import-7'],
 *         ['payload' => ['task' => 'parse'], 'delay' => '10s', 'queue' => 'slow'],
 *         ['payload' => ['task' => 'mail'], 'queue' => 'mails'],
 *     )->onFailure(['payload' => ['task' => 'complain']])->push($queue);
 *
 * The workers need TaskRouter, `delayqueue work`, or Follow around their handler.
 *
 * @phpstan-type Link NewJob|array{payload: mixed, queue?: non-empty-string|QueueInterface, ...<string, mixed>}
 */
final class Chain
{
    /** Of a link: "2/4 0a1b2c3d" is link 2 of 4, in one run of the chain. */
    public const HEADER = 'dq-chain';

    /** Of a link: see result(). */
    public const RESULT = 'dq-result';

    /** Of the job of onFailure(): see failure(). */
    public const FAILURE = 'dq-failed';

    /** So many bytes of JSON may reach the next link. */
    public const MAX_RESULT_BYTES = 4096;

    /** All of a chain is stored, and cancelled, at once. */
    private const MAX_LINKS = 199;

    private const MAX_BYTES = 8_000_000;

    /** Bytes of the id of a chain: ids are at most 200, and `/failed` is added to this one. */
    public const MAX_ID = 193;

    private ?Item $failed = null;

    /** @param list<Item> $links */
    private function __construct(private readonly array $links)
    {
    }

    /**
     * @param Link ...$links as pushMany() takes jobs. In an array `queue` is where it goes, if not to the queue of push(): a name, or an object, whose
     *     defaults and number of partitions count; so of a NewJob, `['queue' => 'slow'] + (array) $job`. A delay is counted from the end of the link
     *     before. Only the first link may have an id: it is the id of the chain, and the others have `id/2` … Not for links: onDuplicate, unique,
     *     maxWait
     *
     * @throws TypeError|ValueError
     */
    public static function of(NewJob|array ...$links): self
    {
        $links = array_values($links);
        if ($links === [] || count($links) > self::MAX_LINKS) {
            throw new ValueError(self::class . '::of(): a chain must have 1 to ' . self::MAX_LINKS . ' links, ' . count($links) . ' given');
        }
        $item = static fn (int $index): Item => Item::of($links[$index], $index === 0, self::class . '::of(): Argument #' . $index + 1);

        return new self(array_map($item, array_keys($links)));
    }

    /**
     * This chain with a job that is pushed once when one of its links is buried. failure() tells its handler which one, and why.
     *
     * @param Link $job without an id: it is that of the chain and `/failed`
     *
     * @throws TypeError|ValueError
     */
    public function onFailure(NewJob|array $job): self
    {
        $chain = clone $this;
        $chain->failed = Item::of($job, false, self::class . '::onFailure(): Argument #1 ($job)');

        return $chain;
    }

    /**
     * Stores the chain, and pushes its first link. Called again with the same id after an error or a crash, it does what is missing; a chain of that id that
     * has not ended is kept as it is.
     *
     * @param QueueInterface $queue of links that name none
     *
     * @return non-empty-string the id of the chain, and of its first job
     *
     * @throws TypeError|ValueError when a link is wrong, too large, or has too many headers; nothing is sent
     * @throws DuplicateJobException when the id of the first link is that of another job
     * @throws SealException when there is a chain of that id which has other keys
     * @throws ConnectionException|ServerException
     */
    public function push(QueueInterface $queue): string
    {
        $method = self::class . '::push()';
        $links = [];
        foreach ($this->links as $index => $link) {
            $links[] = ChainLink::prepare($link->called("$method: link " . $index + 1), $queue);
        }
        $failed = $this->failed === null ? null : ChainLink::prepare($this->failed->called("$method: the job of onFailure()"), $queue);
        $chain = $links[0]->job->id;
        strlen($chain) <= self::MAX_ID || throw new ValueError("$method: link 1: \"id\" must be at most " . self::MAX_ID . ' bytes long');
        $bytes = 0;
        foreach ([...$links, ...$failed === null ? [] : [$failed]] as $link) {
            $bytes += strlen($link->job->body);
        }
        if ($bytes > self::MAX_BYTES) {
            throw new ValueError("$method: the payloads of a chain must be at most " . self::MAX_BYTES . ' bytes together');
        }

        $store = new ChainStore($queue);
        $first = new ChainMark($chain, 1, count($links), ChainMark::newRun());
        if (!$store->add($first, $links, $failed)) {
            $store->resume($chain);

            return $chain;
        }
        try {
            $store->push($first);
        } catch (DuplicateJobException $error) {
            $store->forget($first);
            throw $error;
        }

        return $chain;
    }

    /**
     * The result of the link before: what its handler has returned, as it comes back from JSON. Null where it has returned nothing.
     *
     * @throws JsonException when somebody has changed its header
     */
    public static function result(JobInterface $job): mixed
    {
        return json_decode($job->headers[self::RESULT] ?? 'null', true, flags: JSON_THROW_ON_ERROR);
    }

    /**
     * Why the job of onFailure() was pushed: the link, its job, and its last error. Null for any other job.
     *
     * @return array{link: int, of: int, id: string, queue: string, error: string}|null
     *
     * @throws JsonException when somebody has changed its header
     */
    public static function failure(JobInterface $job): ?array
    {
        return json_decode($job->headers[self::FAILURE] ?? 'null', true, flags: JSON_THROW_ON_ERROR);
    }

    /**
     * Cancels a chain: the links to come, and the one that waits in its queue, also a buried one. A link that runs goes on, and nothing follows it.
     *
     * @param QueueInterface $queue any of the same Redis
     *
     * @return int<0, max> how many links were cancelled; 0 also for a chain that has ended
     *
     * @throws ValueError when no chain can have this id
     * @throws SealException when it has other keys
     * @throws ConnectionException|ServerException
     */
    public static function cancel(QueueInterface $queue, string $id): int
    {
        return (new ChainWatch($queue, $id, 'cancel'))->cancel();
    }

    /**
     * Where a chain stands; null when it has ended, or is cancelled.
     *
     * @param QueueInterface $queue any of the same Redis
     *
     * @throws ValueError|SealException|ConnectionException|ServerException
     */
    public static function status(QueueInterface $queue, string $id): ?ChainStatus
    {
        return (new ChainWatch($queue, $id, 'status'))->status();
    }

    /**
     * Does what no event tells to do: pushes the job of onFailure() for a link that Redis has buried by itself, because its worker died in the last attempt or
     * it expired. A chain whose link is gone, because it was cancelled by its id, purged or dropped, ends: the job of onFailure() is pushed, and the links
     * to come are cancelled. A push() that was cut off is completed. For all chains, say from cron, ids() has them.
     *
     * @param QueueInterface $queue any of the same Redis
     *
     * @return ChainStatus|null where it stands; null when it has ended
     *
     * @throws ValueError|SealException|ConnectionException|ServerException
     */
    public static function check(QueueInterface $queue, string $id): ?ChainStatus
    {
        return (new ChainWatch($queue, $id, 'check'))->check();
    }

    /**
     * The ids of all chains that have not ended.
     *
     * @param QueueInterface $queue any of the same Redis
     *
     * @return iterable<string> one that begins or ends meanwhile may be missing, and one that is sealed with other keys is
     *
     * @throws ConnectionException|ServerException
     */
    public static function ids(QueueInterface $queue): iterable
    {
        return (new ChainStore($queue))->ids();
    }
}
