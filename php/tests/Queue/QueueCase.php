<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Queue;

use DelayQueue;
use DelayQueue\Backoff;
use DelayQueue\Job;
use DelayQueue\JobInfo;
use DelayQueue\QueueInterface;
use DelayQueue\State;
use DelayQueue\Tests\OnAnyStore;
use PHPUnit\Framework\TestCase;
use Throwable;

/** Fills and serves a queue. */
abstract class QueueCase extends TestCase
{
    use OnAnyStore;

    /** @var array<array-key, Job> that taken() and batch() took, by their ids */
    protected static array $hands = [];

    protected function setUp(): void
    {
        self::$hands = [];
    }

    /** @param array<string, mixed> $options */
    protected function queue(string $name = 'rules', array $options = []): DelayQueue
    {
        return $this->delayQueue($name, $options);
    }

    /** Sending anything there is a ConnectionException. */
    protected static function nowhere(): DelayQueue
    {
        return new DelayQueue('rules', 'redis+unix:///nonexistent/redis.sock');
    }

    /** One whose failed jobs come back after ten seconds. */
    protected function patient(): QueueInterface
    {
        return $this->queue(options: ['backoff' => Backoff::fixed(10)]);
    }

    /** Takes and acknowledges all that is ready. @return list<mixed> the payloads in their order */
    protected static function served(QueueInterface $queue): array
    {
        $payloads = [];
        while ($job = $queue->reserve()) {
            $payloads[] = $job->payload;
            $job->ack();
        }

        return $payloads;
    }

    /** Adds a job per word: its payload and id is the word, its group the letters of it. */
    protected static function fill(QueueInterface $queue, string $words): void
    {
        foreach (explode(' ', $words) as $word) {
            $queue->push($word, id: $word, group: rtrim($word, '0123456789'));
        }
    }

    /** Takes what there is, one by one, and settles nothing. @return list<mixed> */
    protected static function taken(QueueInterface $queue, int $most = 100): array
    {
        $taken = [];
        while (count($taken) < $most && ($job = $queue->reserve())) {
            $taken[] = $job->payload;
            self::$hands[$job->id] = $job;
        }

        return $taken;
    }

    /** @return list<mixed> the payloads of the next batch */
    protected static function batch(QueueInterface $queue, int $most): array
    {
        $jobs = $queue->reserveMany($most);
        foreach ($jobs as $job) {
            self::$hands[$job->id] = $job;
        }

        return array_map(static fn (Job $job): mixed => $job->payload, $jobs);
    }

    /** @return list<string> */
    protected static function idsOf(QueueInterface $queue, string $group, State $state, int $offset = 0, int $limit = 100): array
    {
        return array_map(static fn (JobInfo $info): string => $info->id, $queue->list($state, $offset, $limit, group: $group));
    }

    /** @return list<string> */
    protected static function ids(QueueInterface $queue, State $state): array
    {
        return array_map(static fn (JobInfo $info): string => $info->id, $queue->list($state));
    }

    /** "LeaseLostException: …", without the name of the class DelayQueue. */
    protected static function thrown(callable $call): string
    {
        try {
            $call();
        } catch (Throwable $error) {
            $class = substr((string) strrchr('\\' . $error::class, '\\'), 1);
            $message = preg_replace('/^DelayQueue::/', '', $error->getMessage());

            return "$class: " . preg_replace('/, called in .*/s', '', $message);
        }

        return 'nothing';
    }
}
