<?php

declare(strict_types=1);

namespace DelayQueue\Laravel;

use Illuminate\Bus\Batchable;
use Illuminate\Contracts\Queue\ShouldBeUnique;
use Illuminate\Queue\CallQueuedHandler;

/** Does for a job that will never run what its handler would have done at its end for the jobs after it. */
final class CancelledJob extends CallQueuedHandler
{
    /** @param array<string, mixed> $payload */
    public function settle(array $payload): void
    {
        if (!str_starts_with((string) ($payload['job'] ?? ''), CallQueuedHandler::class)) {
            return;
        }
        $command = $this->getCommand($payload['data']);
        $this->releaseLock($command);
        if (in_array(Batchable::class, class_uses_recursive($command), true)) {
            // A batch that is not told never ends.
            $command->batch()?->recordSuccessfulJob((string) ($payload['uuid'] ?? ''));
        }
    }

    public function releaseLock(object $command): void
    {
        if ($command instanceof ShouldBeUnique) {
            $this->ensureUniqueJobLockIsReleased($command);
        }
    }
}
