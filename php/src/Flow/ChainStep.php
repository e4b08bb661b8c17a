<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

use DelayQueue\JobInterface;
use DelayQueue\QueueInterface;
use JsonException;
use Throwable;
use UnexpectedValueException;

/**
 * The next link of a chain, or the end of it.
 *
 * @internal
 */
final class ChainStep implements Step
{
    public function __construct(private readonly string $value)
    {
    }

    public function succeeded(JobInterface $job, QueueInterface $queue, mixed $result): void
    {
        $link = ChainMark::of($this->value, $job->id);
        $store = new ChainStore($queue);
        if ($link->isLast()) {
            $store->end($link);
        } else {
            $store->push($link->next(), self::json($result, $link));
        }
    }

    public function buried(JobInterface $job, QueueInterface $queue, Throwable $error): void
    {
        $link = ChainMark::of($this->value, $job->id);
        // The error as it is kept has no passwords of URLs.
        $kept = $queue->sibling($job->queue)->peek($job->id)?->lastError;
        (new ChainStore($queue))->fail($link, $job->queue, $kept ?? $error->getMessage());
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
        if ($bytes > Chain::MOST_RESULT) {
            throw new UnexpectedValueException("$what has $bytes bytes of JSON; at most " . Chain::MOST_RESULT . ' may go to the next one');
        }

        return $json;
    }
}
