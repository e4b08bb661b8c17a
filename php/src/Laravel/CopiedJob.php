<?php

declare(strict_types=1);

namespace DelayQueue\Laravel;

use Illuminate\Contracts\Queue\Job as JobContract;
use Illuminate\Queue\CallQueuedHandler;

/** The handler of a copy that an operator has pushed: a job without lock, batch and chain of the other one. */
final class CopiedJob extends CallQueuedHandler
{
    /** What a command has of the dispatch that made it. */
    private const OF_THE_DISPATCH = [
        'batchId' => null,
        'chained' => [],
        'chainCatchCallbacks' => null,
        'debounceOwner' => null,
    ];

    /** The payload of a copy, for its worker, and for failed_jobs. */
    public static function body(string $body, string $uuid): string
    {
        $payload = json_decode($body, true);
        if (!is_array($payload) || !is_string($payload['job'] ?? null)) {
            return $body;
        }
        if (str_starts_with($payload['job'], CallQueuedHandler::class)) {
            $payload['job'] = self::class . substr($payload['job'], strlen(CallQueuedHandler::class));
            if (is_array($payload['data'] ?? null)) {
                unset($payload['data']['batchId']);
            }
        }
        $wishes = is_array($payload['delayqueue'] ?? null) ? $payload['delayqueue'] : [];
        $own = array_diff_key(Held::without($wishes), ['id' => 1, 'onDuplicate' => 1]);
        unset($payload['delayqueue']);
        $payload = ['uuid' => $uuid] + $payload + ($own === [] ? [] : ['delayqueue' => $own]);

        return json_encode($payload, JSON_UNESCAPED_UNICODE | JSON_PRESERVE_ZERO_FRACTION | JSON_THROW_ON_ERROR);
    }

    protected function getCommand(array $data)
    {
        $command = parent::getCommand($data);
        foreach (self::OF_THE_DISPATCH as $property => $none) {
            if (property_exists($command, $property)) {
                $command->$property = $none;
            }
        }

        return $command;
    }

    protected function ensureUniqueJobLockIsReleased($command)
    {
        // It is the lock of the other job.
    }

    protected function ensureUniqueJobLockIsReleasedViaContext()
    {
    }

    protected function ensureSuccessfulBatchJobIsRecordedForMissingModel(JobContract $job, string $class)
    {
    }
}
