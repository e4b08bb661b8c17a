<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Transport;

use DelayQueue\JobInfo;
use DelayQueue\State;
use DelayQueue\Symfony\Stamp\HeldStamp;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Exception\MessageDecodingFailedException;

/**
 * Looks at the messages of a transport without taking them.
 *
 * @internal
 */
final class Listing
{
    private const PAGE = 100;

    public function __construct(private readonly Queues $queues, private readonly Codec $codec)
    {
    }

    /**
     * Delayed messages are not listed, because messenger:failed:retry tries listed messages until none is left: it would try a message again at
     * once although it has just delayed its retry.
     *
     * @return iterable<Envelope> ready and buried ones, in this order; those that cannot be decoded only from Messenger 8.1 on
     */
    public function all(?int $limit): iterable
    {
        $given = 0;
        foreach ($this->jobs() as $job) {
            if ($limit !== null && $given >= $limit) {
                return;
            }
            $envelope = $this->found($job);
            if ($envelope !== null) {
                $given++;
                yield $envelope;
            }
        }
    }

    /** Null also while a worker has it: nobody may handle it a second time meanwhile. */
    public function find(string $id): ?Envelope
    {
        $job = Queues::call(fn (): ?JobInfo => $this->queues->own()->peek($id));

        return $job === null || $job->state === State::Reserved ? null : $this->found($job);
    }

    /** @return iterable<JobInfo> */
    private function jobs(): iterable
    {
        foreach ([State::Ready, State::Buried] as $state) {
            $last = null;
            do {
                $page = Queues::call(fn (): array => $this->queues->own()->list($state, 0, self::PAGE, $last));
                yield from $page;
                $last = end($page);
            } while (count($page) === self::PAGE);
        }
    }

    private function found(JobInfo $job): ?Envelope
    {
        try {
            return $this->codec->received($job->body, new HeldStamp($this->queues, $job->id, $job->createdAt, group: $job->group));
        } catch (MessageDecodingFailedException) {
            return null;
        }
    }
}
