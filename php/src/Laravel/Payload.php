<?php

declare(strict_types=1);

namespace DelayQueue\Laravel;

use Closure;
use DelayQueue;
use DelayQueue\Internal\Sealed;
use DelayQueue\Job as NativeJob;
use Illuminate\Queue\CallQueuedHandler;

/** A payload of Laravel with members that its worker can rely on, whatever bytes are stored. */
final class Payload
{
    /** The name of the job in a payload that names none. */
    private const NO_JOB = 'unreadable payload';

    /** The types of the members that Laravel's worker reads, each of which may also be null. */
    private const TYPES = [
        'uuid' => 'a string',
        'displayName' => 'a string',
        'job' => 'a string',
        'maxTries' => 'a number',
        'maxExceptions' => 'a number',
        'timeout' => 'a number',
        'retryUntil' => 'a number',
        'attempts' => 'a number',
        'failOnTimeout' => 'a scalar',
        'backoff' => 'a scalar',
    ];

    /** Members that are left out where they are arrays: the job runs as well without. */
    private const OF_NO_MATTER = ['delay', 'createdAt'];

    /** @param array<array-key, mixed> $members */
    private function __construct(
        public readonly array $members,
        /** Why the job cannot run. Null: it can. */
        public readonly ?string $fault,
        /** The stored bytes have a uuid; $members always have one. */
        public readonly bool $hasUuid,
        /** The class of the job has what it needs to be told of the failure. */
        public readonly bool $canBeTold,
    ) {
    }

    /** @param string $id the uuid of a payload that has none */
    public static function of(string $body, string $id): self
    {
        $members = json_decode($body, true);
        if (!is_array($members)) {
            return self::without(['uuid' => $id], 'it is not a JSON object', false);
        }
        $fault = null;
        foreach (self::TYPES as $name => $type) {
            if (isset($members[$name]) && !self::is($type, $members[$name])) {
                $fault ??= "its member \"$name\" is not $type";
                unset($members[$name]);
            }
        }
        foreach (self::OF_NO_MATTER as $name) {
            if (is_array($members[$name] ?? null)) {
                unset($members[$name]);
            }
        }
        $hasUuid = ($members['uuid'] ?? '') !== '';
        $members['uuid'] = $hasUuid ? $members['uuid'] : $id;
        if (($members['job'] ?? '') === '') {
            return self::without($members, $fault ?? 'it names no job', $hasUuid);
        }
        $missing = self::missing($members);
        if ($missing !== null) {
            return new self(['data' => []] + $members, $fault ?? $missing, $hasUuid, false);
        }

        return new self($members, $fault, $hasUuid, true);
    }

    /**
     * What names the class of a job for the counters of tasks().
     *
     * @return (Closure(NativeJob): ?string)|null null: nobody else may read it
     */
    public static function classOf(DelayQueue $queue): ?Closure
    {
        return Sealed::hidesPayloads($queue) ? null : static function (NativeJob $job): ?string {
            $name = json_decode($job->body, true)['displayName'] ?? null;

            return is_string($name) ? $name : null;
        };
    }

    /** @param array<array-key, mixed> $members */
    private static function without(array $members, string $fault, bool $hasUuid): self
    {
        return new self(['job' => self::NO_JOB, 'data' => []] + $members, $fault, $hasUuid, false);
    }

    /** @param array<array-key, mixed> $members */
    private static function missing(array $members): ?string
    {
        if (!array_key_exists('data', $members)) {
            return 'it has no data';
        }
        if (!str_starts_with($members['job'], CallQueuedHandler::class)) {
            return null;
        }
        $data = $members['data'];

        return is_array($data) && is_string($data['command'] ?? null) && is_string($data['commandName'] ?? '')
            ? null
            : 'its data is no command';
    }

    private static function is(string $type, mixed $value): bool
    {
        return match ($type) {
            'a string' => is_string($value),
            'a number' => is_numeric($value),
            default => is_scalar($value),
        };
    }
}
