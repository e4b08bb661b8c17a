<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

use Closure;
use DelayQueue;
use DelayQueue\Console\Text;
use DelayQueue\Event;
use DelayQueue\Job;
use DelayQueue\TimeoutException;
use Symfony\Component\Console\Output\OutputInterface;
use Throwable;

/** One line for each run of a handler, written when its outcome is known. */
final class JobLog
{
    private ?Job $running = null;

    private float $startedAt = 0.0;

    public function __construct(private readonly OutputInterface $output, private readonly bool $asJson)
    {
    }

    /** The handler, watched; the queue tells the rest. */
    public function watch(DelayQueue $queue, callable $handler): Closure
    {
        $outcomes = [Event::Succeeded->value => 'done', Event::Released->value => 'released', Event::Buried->value => 'buried', Event::LeaseLost->value => 'lost'];
        foreach ($outcomes as $event => $outcome) {
            $queue->on(Event::from($event), fn (Event $event, ?Job $job, ?Throwable $error) => $this->write($job, $outcome, $error));
        }
        $queue->on(Event::Failed, function (Event $event, ?Job $job, ?Throwable $error): void {
            // The last attempt: Buried follows, and is the outcome.
            if ($job !== null && ($job->maxAttempts === 0 || $job->attempts < $job->maxAttempts)) {
                $this->write($job, $error instanceof TimeoutException ? 'timedOut' : 'failed', $error);
            }
        });
        // exit() and fatal errors leave no other trace.
        register_shutdown_function(function (): void {
            if ($this->running !== null) {
                $this->write($this->running, 'died', null, error_get_last()['message'] ?? 'the handler ended the process');
            }
        });

        return function (Job $job, DelayQueue $queue) use ($handler): mixed {
            $this->running = $job;
            $this->startedAt = hrtime(true) / 1e6;
            $error = null;
            try {
                return $handler($job, $queue);
            } catch (Throwable $error) {
                throw $error;
            } finally {
                // The handler settled it itself: the queue has nothing to tell.
                if ($job->isSettled()) {
                    $this->write($job, 'settled', $error);
                }
            }
        };
    }

    private function write(?Job $job, string $outcome, ?Throwable $error, ?string $reason = null): void
    {
        if ($job === null) {
            return;
        }
        // A lease can be lost after the line of the job, when its acknowledgement arrives too late.
        $took = $this->running === $job ? hrtime(true) / 1e6 - $this->startedAt : null;
        $this->running = $this->running === $job ? null : $this->running;
        $reason ??= $error === null ? null : $error::class . ($error->getMessage() === '' ? '' : ": {$error->getMessage()}");
        $fields = [
            'time' => Text::moment(microtime(true)),
            'queue' => $job->queue,
            'id' => $job->id,
            'attempt' => $job->attempts,
            'late_ms' => (int) round(($job->reservedAt - $job->dueAt) * 1000),
            'run_ms' => $took === null ? null : round($took, 1),
            'outcome' => $outcome,
            'reason' => $reason === null ? null : Text::short($reason, 1000),
            'pid' => getmypid(),
        ];
        $line = $this->asJson
            ? Text::json(array_filter($fields, static fn (mixed $value): bool => $value !== null))
            : sprintf(
                '%s %s %s attempt %d, %d ms late, %s: %s%s',
                $fields['time'], $job->queue, $job->id, $job->attempts, $fields['late_ms'],
                $took === null ? 'over' : "ran {$fields['run_ms']} ms", $outcome, $reason === null ? '' : " ({$fields['reason']})",
            );
        $this->output->writeln($line, OutputInterface::OUTPUT_RAW);
    }
}
