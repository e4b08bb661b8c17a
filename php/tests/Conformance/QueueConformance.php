<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Conformance;

use DelayQueue\Backoff;
use DelayQueue\Job;
use DelayQueue\JobInfo;
use DelayQueue\QueueInterface;
use DelayQueue\State;
use PHPUnit\Framework\TestCase;
use Throwable;

/**
 * The rules of a queue. Every implementation of QueueInterface has to keep them: the suite runs against the extension on a real Redis and
 * against InMemoryQueue, so that the two cannot drift apart.
 */
abstract class QueueConformance extends TestCase
{
    use DuplicateRules;
    use ErrorRules;
    use GroupLimitRules;
    use GroupLookingRules;
    use GroupPauseRules;
    use GroupRateRules;
    use GroupRules;
    use ItemErrorRules;
    use LeaseRules;
    use LookingRules;
    use LoopRules;
    use ManagingRules;
    use MomentRules;
    use OrderedGroupRules;
    use OrderRules;
    use ReceiptRules;
    use StateRules;
    use UniqueRules;

    /** @var array<array-key, Job> that taken() and batch() took, by their ids */
    protected static array $hands = [];

    protected function setUp(): void
    {
        self::$hands = [];
    }

    /** @param array<string, mixed> $options */
    abstract protected function queue(string $name = 'rules', array $options = []): QueueInterface;

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

    /** "LeaseLostException: …", without the name of the queue's class. */
    protected static function thrown(callable $call): string
    {
        try {
            $call();
        } catch (Throwable $error) {
            $class = substr((string) strrchr('\\' . $error::class, '\\'), 1);
            $message = preg_replace('/^(DelayQueue\\\\InMemory\\\\InMemoryQueue|DelayQueue)::/', '', $error->getMessage());

            return "$class: " . preg_replace('/, called in .*/s', '', $message);
        }

        return 'nothing';
    }
}
