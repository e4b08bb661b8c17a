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
    use GroupRules;
    use LeaseRules;
    use LookingRules;
    use LoopRules;
    use ManagingRules;
    use MomentRules;
    use OrderedGroupRules;
    use OrderRules;
    use ReceiptRules;
    use UniqueRules;

    /** @var array<array-key, Job> jobs in hand, by their ids, so that their leases last */
    protected static array $hands = [];

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
