<?php

declare(strict_types=1);

namespace DelayQueue\Worker;

use DelayQueue\CancelledException;
use DelayQueue\ConnectionException;
use DelayQueue\Internal\Excerpt;
use DelayQueue\Internal\RedisClock;
use DelayQueue\JobInfo;
use DelayQueue\JobInterface;
use DelayQueue\LeaseLostException;
use DelayQueue\PayloadException;
use DelayQueue\SealException;
use DelayQueue\ServerException;
use ValueError;
use WeakMap;

/**
 * How far a job is, told by its handler and kept in a header of the job:
 *
 *     Progress::of($job)->report(0.4, 'page 3');
 *     Progress::in($queue->peek($id))['share'];
 *
 * A report changes this header alone: payload, and headers of others, stay as they are, or as the handler has changed them by Job::update().
 */
final class Progress
{
    public const HEADER = 'dq-progress';

    private const MAX_CHARACTERS = 200;

    /** Seconds from one write to the next. */
    private const PAUSE = 1.0;

    /** @var WeakMap<JobInterface, float> when each was reported last, by this host's clock */
    private static WeakMap $reported;

    private function __construct(private readonly JobInterface $job)
    {
    }

    /** As often as you like for the same job. */
    public static function of(JobInterface $job): self
    {
        self::$reported ??= new WeakMap();

        return new self($job);
    }

    /**
     * @param JobInfo|JobInterface $job a job in hand tells what an attempt before has reported
     *
     * @return array{share: float, text: string, at: float}|null null: nobody has reported. `at` is in Unix seconds, by the clock of the worker's host
     */
    public static function in(JobInfo|JobInterface $job): ?array
    {
        $read = json_decode($job->headers[self::HEADER] ?? '', true);
        [$share, $text, $at] = [$read['share'] ?? null, $read['text'] ?? null, $read['at'] ?? null];

        return is_numeric($share) && is_string($text) && is_numeric($at) ? ['share' => (float) $share, 'text' => $text, 'at' => (float) $at] : null;
    }

    /**
     * Stores how far the job is: at most once a second, reports in between are dropped; but 1.0 always.
     *
     * It never fails a job: where it cannot be stored, because Redis is away or the lease is lost, it is not.
     *
     * @param float $share 0.0 to 1.0
     * @param string $text for people; the first 200 characters, on one line
     *
     * @throws ValueError if $share is not between 0 and 1
     */
    public function report(float $share, string $text = ''): void
    {
        if (!($share >= 0 && $share <= 1)) {
            throw new ValueError(__METHOD__ . '(): Argument #1 ($share) must be between 0 and 1');
        }
        $now = RedisClock::here();
        $isDue = abs($now - (self::$reported[$this->job] ?? -INF)) >= self::PAUSE || $share === 1.0;
        if (!$isDue || $this->job->isSettled() || $this->job->isLost()) {
            return;
        }
        self::$reported[$this->job] = $now;
        $header = json_encode(
            ['share' => round($share, 6), 'text' => Excerpt::of($text, self::MAX_CHARACTERS), 'at' => round($now, 3)],
            JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_THROW_ON_ERROR,
        );
        try {
            $this->job->update(headers: [self::HEADER => $header]);
        } catch (CancelledException $told) {
            throw $told;
        } catch (ConnectionException | ServerException | PayloadException | SealException | LeaseLostException | ValueError) {
        }
    }
}
