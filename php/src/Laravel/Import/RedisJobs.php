<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Import;

use DateTimeImmutable;
use DelayQueue\DuplicateJobException;
use DelayQueue\Laravel\OutgoingJob;
use DelayQueue\Laravel\Queue;
use DelayQueue\OnDuplicate;
use Illuminate\Queue\Jobs\RedisJob;
use Illuminate\Queue\RedisQueue;

/**
 * The jobs of Laravel's redis driver on their way to delayqueue. Each is taken under a reservation of that driver, then pushed under its
 * own id, then deleted there: workers of both may run meanwhile, and an import that breaks off can be started again once that
 * reservation (its retry_after) has run out. A job that was pushed but not deleted by then is known by its id, and stays one job.
 */
final class RedisJobs
{
    /** KEYS: delayed. The first 500 and when they are due. */
    private const PAGE = "return redis.call('zrange', KEYS[1], 0, 499, 'withscores')";

    /** KEYS: delayed, reserved; ARGV: job, its due time, when the reservation ends. A job never comes back before it is due. */
    private const TAKE_DELAYED = <<<'LUA'
        if redis.call('zrem', KEYS[1], ARGV[1]) == 0 then
            return 0
        end
        redis.call('zadd', KEYS[2], math.max(tonumber(ARGV[2]), tonumber(ARGV[3])), ARGV[1])
        return 1
        LUA;

    /** KEYS: the beginning of all names; ARGV: cursor. */
    private const SCAN = "return redis.call('scan', ARGV[1], 'match', KEYS[1] .. '*', 'count', 1000)";

    public function __construct(private readonly RedisQueue $source)
    {
    }

    /** @return list<string> the queues that have jobs */
    public function queues(): array
    {
        $names = [];
        $cursor = '0';
        do {
            [$cursor, $keys] = $this->source->getConnection()->eval(self::SCAN, 1, 'queues:', $cursor);
            foreach ($keys as $key) {
                // A prefix may stand before, and the kind of the set behind.
                $names[] = (string) preg_replace('/^.*?queues:|:(delayed|reserved|notify)$/', '', $key);
            }
        } while ((string) $cursor !== '0');

        return array_values(array_unique($names));
    }

    /** @return array{int, int} how many waiting and delayed jobs were moved */
    public function moveTo(Queue $target, string $queue): array
    {
        // The delayed first: those that fall due meanwhile are waiting then.
        $delayed = $this->moveDelayed($target, $queue);

        return [$this->moveWaiting($target, $queue), $delayed];
    }

    private function moveWaiting(Queue $target, string $queue): int
    {
        // Index 1: at the first queue of a list newer versions wait for a job.
        for ($moved = 0; ($job = $this->source->pop($queue, 1)) instanceof RedisJob; ++$moved) {
            $this->push($target, $queue, $job->getRawBody(), null);
            $this->source->deleteReserved($queue, $job);
        }

        return $moved;
    }

    private function moveDelayed(Queue $target, string $queue): int
    {
        $redis = $this->source->getConnection();
        $key = $this->source->getQueue($queue);
        $moved = 0;
        while (($page = $redis->eval(self::PAGE, 1, "$key:delayed")) !== []) {
            foreach (array_chunk($page, 2) as [$body, $dueAt]) {
                $until = time() + 60;
                if ((int) $redis->eval(self::TAKE_DELAYED, 2, "$key:delayed", "$key:reserved", $body, (string) $dueAt, (string) $until) === 1) {
                    $this->push($target, $queue, $body, DateTimeImmutable::createFromFormat('U', (string) (int) $dueAt) ?: null);
                    $redis->zrem("$key:reserved", $body);
                    ++$moved;
                }
            }
        }

        return $moved;
    }

    /** @param DateTimeImmutable|null $dueAt null: at once */
    private function push(Queue $target, string $queue, string $body, ?DateTimeImmutable $dueAt): void
    {
        $native = $target->native($queue);
        $new = OutgoingJob::of($body, $dueAt, [], $target->settings, $native)->parameters();
        $redisId = self::redisId($body);
        try {
            $native->push(...['id' => $new['id'] ?? $redisId] + $new);
        } catch (DuplicateJobException) {
            $old = $native->peek($new['id'] ?? $redisId);
            if ($old !== null && self::redisId($old->body) !== $redisId) {
                // Another job has the same uuid; this one has an id of its own as well.
                $native->push(...['id' => $redisId, 'onDuplicate' => OnDuplicate::Keep] + $new);
            }
        }
    }

    private static function redisId(string $body): ?string
    {
        $id = json_decode($body, true)['id'] ?? null;

        return is_string($id) ? $id : null;
    }
}
