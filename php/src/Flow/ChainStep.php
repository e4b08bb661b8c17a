<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

use DelayQueue\JobInterface;
use DelayQueue\QueueInterface;
use JsonException;
use UnexpectedValueException;

/**
 * The next link of a chain, or the end of it.
 *
 * @internal
 */
final class ChainStep implements Step
{
    private readonly ChainMark $link;

    /** @throws UnexpectedValueException when the job is no link of a chain */
    public function __construct(string $value, string $jobId)
    {
        $this->link = ChainMark::of($value, $jobId);
    }

    public function succeeded(JobInterface $job, QueueInterface $queue, mixed $result): void
    {
        $store = new ChainStore($queue);
        if ($this->link->isLast()) {
            $store->end($this->link);
        } else {
            $store->push($this->link->next(), self::json($result, $this->link));
        }
    }

    public function buried(JobInterface $job, QueueInterface $queue, string $error): void
    {
        (new ChainStore($queue))->fail($this->link, $job->queue, $error);
    }

    private static function json(mixed $result, ChainMark $link): ?string
    {
        if ($result === null) {
            return null;
        }
        $what = "the result of link $link->link of the chain '$link->chain'";
        try {
            $json = json_encode($result, JSON_THROW_ON_ERROR | JSON_PRESERVE_ZERO_FRACTION | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES);
        } catch (JsonException $error) {
            throw new UnexpectedValueException("$what is nothing that json_encode() accepts: {$error->getMessage()}", 0, $error);
        }
        $bytes = strlen($json);
        if ($bytes > Chain::MAX_RESULT_BYTES) {
            throw new UnexpectedValueException("$what has $bytes bytes of JSON; at most " . Chain::MAX_RESULT_BYTES . ' may go to the next one');
        }

        return $json;
    }
}
