<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Console;

use DelayQueue\ConnectionException;
use Illuminate\Queue\Console\RetryCommand as BaseRetryCommand;
use Throwable;

/** Laravel's queue:retry. A job that cannot be pushed stays in failed_jobs, and the others are pushed. */
final class RetryCommand extends BaseRetryCommand
{
    /** @var list<mixed>|null the ids that are left; null: as the framework finds them */
    private ?array $ids = null;

    /** The failed job that is being pushed. */
    private ?string $current = null;

    /** @return int 1 when one of them has stayed */
    public function handle()
    {
        $this->ids = null;
        $this->ids = array_values($this->getJobIds());
        for ($stayed = 0;; ++$stayed) {
            $this->current = null;
            try {
                parent::handle();

                return $stayed === 0 ? self::SUCCESS : self::FAILURE;
            } catch (Throwable $error) {
                $at = array_search($this->current, array_map(strval(...), $this->ids), true);
                // Where Redis is away no other would get there.
                if ($at === false || $error instanceof ConnectionException) {
                    throw $error;
                }
                $stays = "The failed job [$this->current] stays in the list of failed jobs";
                $this->error("$stays: {$error->getMessage()}");
                $this->ids = array_slice($this->ids, $at + 1);
                if ($this->ids === []) {
                    return self::FAILURE;
                }
            }
        }
    }

    protected function getJobIds()
    {
        return $this->ids ?? parent::getJobIds();
    }

    protected function retryJob($job)
    {
        $this->current = (string) $job->id;
        parent::retryJob($job);
    }
}
