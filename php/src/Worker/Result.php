<?php

declare(strict_types=1);

namespace DelayQueue\Worker;

use DateInterval;
use DateTimeImmutable;
use DelayQueue\ConnectionException;
use DelayQueue\Internal\Seconds;
use DelayQueue\JobInterface;
use DelayQueue\OnDuplicate;
use DelayQueue\OnExpiry;
use DelayQueue\QueueInterface;
use DelayQueue\ServerException;
use DelayQueue\State;
use JsonException;
use ValueError;

/**
 * The result of a job, for the code that waits for it:
 *
 *     Result::put($queue, $job, ['url' => $url], keep: '1h');          // in the handler
 *     $result = Result::of($queue, $id)->wait('5s');                   // elsewhere
 *
 * A result is a job of the queue `<name>:results`, delayed for as long as it is kept, under the id of the job. That queue needs no worker: a result
 * that is over is never handed out, and each put() removes ten of these.
 *
 * @phpstan-type Duration int|float|numeric-string|non-empty-string|DateInterval
 */
final class Result
{
    /** Of the JSON of a value. */
    public const MAX_BYTES = 4096;

    private const OVER_AT_ONCE = 10;

    /** Microseconds between two looks. */
    private const FIRST_PAUSE = 2_000;

    private const LONGEST_PAUSE = 100_000;

    private function __construct(private readonly QueueInterface $results, private readonly string $id)
    {
    }

    /**
     * @param QueueInterface $queue that of the job, or any of the same Redis where $job is an object
     * @param string|JobInterface $job its id
     *
     * @throws ValueError if there can be no such id
     */
    public static function of(QueueInterface $queue, string|JobInterface $job): self
    {
        $id = is_string($job) ? $job : $job->id;
        if ($id === '' || strlen($id) > 200 || preg_match('/[\x00-\x1F\x7F]/', $id)) {
            throw new ValueError(__METHOD__ . '(): Argument #2 ($job) must be an id of 1 to 200 bytes without control characters');
        }

        return new self(self::queue($queue, is_string($job) ? $queue->name() : $job->queue), $id);
    }

    /**
     * Stores a result, in place of one that is there.
     *
     * @param QueueInterface $queue that of the job, or any of the same Redis where $job is an object
     * @param string|JobInterface $job its id
     * @param mixed $value what json_encode() accepts; 4,096 bytes of JSON at most
     * @param Duration $keep for so long it can be had
     *
     * @throws ValueError before anything is sent
     * @throws ConnectionException|ServerException
     */
    public static function put(QueueInterface $queue, string|JobInterface $job, mixed $value, int|float|string|DateInterval $keep): void
    {
        $seconds = Seconds::positive($keep, __METHOD__, 'Argument #4 ($keep)');
        try {
            $length = strlen(json_encode($value, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_PRESERVE_ZERO_FRACTION | JSON_THROW_ON_ERROR));
        } catch (JsonException $error) {
            throw new ValueError(__METHOD__ . "(): Argument #3 (\$value) must be encodable as JSON: {$error->getMessage()}", 0, $error);
        }
        if ($length > self::MAX_BYTES) {
            throw new ValueError(__METHOD__ . '(): Argument #3 ($value) must be at most ' . self::MAX_BYTES . " bytes of JSON, $length given");
        }
        $result = self::of($queue, $job);
        $result->results->consumer(limit: self::OVER_AT_ONCE);
        // It has expired before it is due. So a worker that serves this queue by mistake drops what is over, and hands it to no handler.
        $result->results->push(
            $value,
            delay: $seconds,
            id: $result->id,
            onDuplicate: OnDuplicate::Replace,
            expires: new DateTimeImmutable('@1'),
            onExpiry: OnExpiry::Drop,
        );
    }

    /**
     * @return mixed the value, or $default where there is none (yet, or any more). A null may have been put: give another default to tell it from nothing
     *
     * @throws ConnectionException|ServerException
     */
    public function get(mixed $default = null): mixed
    {
        $job = $this->results->peek($this->id);

        return $job?->state === State::Delayed ? $job->payload : $default;
    }

    /** @throws ConnectionException|ServerException */
    public function exists(): bool
    {
        return $this->get($this) !== $this;
    }

    /**
     * Waits until there is one. It looks after 2 ms, then after pauses that grow to 100 ms.
     *
     * @param Duration $timeout
     *
     * @return mixed as of get(), with $default when the time is over
     *
     * @throws ValueError if $timeout is no duration
     * @throws ConnectionException|ServerException
     */
    public function wait(int|float|string|DateInterval $timeout, mixed $default = null): mixed
    {
        $until = hrtime(true) + (int) (1e9 * Seconds::of($timeout, __METHOD__, 'Argument #1 ($timeout)'));
        for ($pause = self::FIRST_PAUSE; true; $pause = min(2 * $pause, self::LONGEST_PAUSE)) {
            $value = $this->get($this);
            $left = intdiv($until - hrtime(true), 1000);
            if ($value !== $this || $left <= 0) {
                return $value === $this ? $default : $value;
            }
            usleep((int) min($pause, $left));
        }
    }

    private static function queue(QueueInterface $queue, string $name): QueueInterface
    {
        // A limit of the jobs is none of their results, which end by themselves.
        return $queue->sibling("$name:results", ['format' => 'json', 'capacity' => null, 'maxPayload' => self::MAX_BYTES]);
    }
}
