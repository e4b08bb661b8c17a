<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

use Closure;
use DelayQueue;
use DelayQueue\Console\Format;
use DelayQueue\Console\Text;
use DelayQueue\Console\UsageException;
use DelayQueue\Event;
use DelayQueue\Internal\Json;
use DelayQueue\Job;
use DelayQueue\TimeoutException;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;
use Symfony\Component\Console\Output\StreamOutput;
use Throwable;

/** One line for each run of a handler, written when its outcome is known. */
final class JobLog
{
    /** The job whose line is to be written. */
    private ?Job $running = null;

    private bool $isInHandler = false;

    private float $startedAt = 0.0;

    private function __construct(private readonly OutputInterface $output, private readonly bool $asJson)
    {
    }

    public static function describe(Command $command): void
    {
        $command
            ->addOption('log', null, InputOption::VALUE_REQUIRED, 'How to write the lines about jobs: text or json', Format::TEXT)
            ->addOption('log-file', null, InputOption::VALUE_REQUIRED, 'Append these lines to this file, not to standard output, which handlers may use');
    }

    /** @throws UsageException when the file cannot be written */
    public static function of(InputInterface $input, OutputInterface $output): self
    {
        $file = $input->getOption('log-file');
        if ($file !== null) {
            $stream = @fopen($file, 'a') ?: throw new UsageException("cannot write the log $file");
            $output = new StreamOutput($stream, $output->getVerbosity());
        }

        return new self($output, self::isJson($input));
    }

    /** @throws UsageException when --log is neither */
    public static function isJson(InputInterface $input): bool
    {
        return match ($input->getOption('log')) {
            Format::TEXT => false,
            Format::JSON => true,
            default => throw new UsageException('--log must be text or json'),
        };
    }

    /** The handler, watched; the queue tells the rest. */
    public function watch(DelayQueue $queue, callable $handler): Closure
    {
        $outcomes = ['succeeded' => 'done', 'released' => 'released', 'buried' => 'buried', 'leaseLost' => 'lost'];
        foreach ($outcomes as $event => $outcome) {
            $queue->on(
                Event::from($event),
                fn (Event $event, ?Job $job, ?Throwable $error) => $this->write($job, $outcome, $error),
            );
        }
        $queue->on(Event::Failed, function (Event $event, ?Job $job, ?Throwable $error): void {
            // The last attempt: Buried follows, and is the outcome.
            if ($job !== null && ($job->maxAttempts === 0 || $job->attempts < $job->maxAttempts)) {
                $this->write($job, $error instanceof TimeoutException ? 'timedOut' : 'failed', $error);
            }
        });
        // exit() and fatal errors leave no other trace.
        register_shutdown_function(function (): void {
            if ($this->isInHandler) {
                $why = ErrorReport::ofFatalError(error_get_last()['message'] ?? 'the handler ended the process');
                $this->write($this->running, 'died', null, $why);
            }
        });

        return function (Job $job, DelayQueue $queue) use ($handler): mixed {
            [$this->running, $this->isInHandler] = [$job, true];
            $this->startedAt = hrtime(true) / 1e6;
            $error = null;
            try {
                return $handler($job, $queue);
            } catch (Throwable $error) {
                throw $error;
            } finally {
                $this->isInHandler = false;
                // The handler settled it itself: the queue has nothing to tell.
                if ($job->isSettled()) {
                    $this->write($job, 'settled', $error);
                }
            }
        };
    }

    /** @param array<string, mixed> $why what there is to say where no exception tells */
    private function write(?Job $job, string $outcome, ?Throwable $error, array $why = []): void
    {
        if ($job === null) {
            return;
        }
        // A lease can be lost after the line of the job, when its acknowledgement arrives too late.
        $took = $this->running === $job ? hrtime(true) / 1e6 - $this->startedAt : null;
        $this->running = $this->running === $job ? null : $this->running;
        $fields = [
            'time' => Text::moment(microtime(true)),
            'queue' => $job->queue,
            'id' => $job->id,
            'attempt' => $job->attempts,
            'late_ms' => (int) round(($job->reservedAt - $job->dueAt) * 1000),
            'run_ms' => $took === null ? null : round($took, 1),
            'outcome' => $outcome,
            ...($error === null ? $why : ErrorReport::fields($error)),
            'pid' => getmypid(),
        ];
        $present = array_filter($fields, static fn (mixed $value): bool => $value !== null);
        $this->output->writeln($this->asJson ? Json::line($present) : Text::printable(self::text($present)), OutputInterface::OUTPUT_RAW);
    }

    /** @param array<string, mixed> $fields */
    private static function text(array $fields): string
    {
        $ran = isset($fields['run_ms']) ? ", ran {$fields['run_ms']} ms" : '';
        $reason = isset($fields['reason']) ? ' (' . ErrorReport::text($fields) . ')' : '';

        return "{$fields['time']} {$fields['queue']} {$fields['id']} attempt {$fields['attempt']}, {$fields['late_ms']} ms late$ran"
            . ": {$fields['outcome']}$reason";
    }
}
