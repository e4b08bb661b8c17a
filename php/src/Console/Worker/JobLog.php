<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

use Closure;
use DelayQueue;
use DelayQueue\Console\Format;
use DelayQueue\Console\StreamError;
use DelayQueue\Console\Streams;
use DelayQueue\Console\Text;
use DelayQueue\Console\UsageException;
use DelayQueue\Event;
use DelayQueue\Internal\Json;
use DelayQueue\Job;
use DelayQueue\JobInterface;
use DelayQueue\TimeoutException;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;
use Throwable;

/** One line for each run of a handler, written when its outcome is known. */
final class JobLog
{
    /** Jobs that a handler runs now. @var list<JobInterface> */
    private array $running = [];

    private float $startedAt = 0.0;

    private ?InHand $inHand = null;

    private bool $hasToldOfFalse = false;

    /** The process of the handlers; a child that one of them forks says nothing here. */
    private readonly int $pid;

    /** @param WholeLines|null $lines where handlers write to the same output */
    private function __construct(
        private readonly LogOutput $output,
        private readonly bool $asJson,
        private readonly ?WholeLines $lines,
        private readonly Notices $notices,
    ) {
        $this->pid = (int) getmypid();
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
        // Otherwise PHP ends where an echo of the handler cannot be written.
        ignore_user_abort(true);
        $file = $input->getOption('log-file');
        $isJson = self::isJson($input);
        $notices = new Notices($output, $isJson);
        if ($file !== null) {
            try {
                $stream = Streams::open($file, 'a');
            } catch (StreamError $error) {
                throw new UsageException("cannot write the log $file: {$error->getMessage()}", 0, $error);
            }

            return new self(new LogOutput($stream, $output->getVerbosity(), "the log $file", $notices), $isJson, null, $notices);
        }
        // Not STDOUT, whose position tells what handlers have written to it.
        $stream = @fopen('php://stdout', 'w') ?: STDOUT;
        $log = new LogOutput($stream, $output->getVerbosity(), 'the log to standard output', $notices);

        return new self($log, $isJson, $output->isQuiet() ? null : new WholeLines($log), $notices);
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

    /**
     * The handler, watched; the queue tells the rest.
     *
     * @param callable $handler gets a job, or a list of them, and the queue
     * @param InHand|null $inHand where its parent is to find what it runs
     */
    public function watch(DelayQueue $queue, callable $handler, ?InHand $inHand = null): Closure
    {
        $this->inHand = $inHand;
        $this->listen($queue);
        // exit() and fatal errors leave no other trace.
        register_shutdown_function(function (): void {
            foreach (getmypid() === $this->pid ? $this->running : [] as $job) {
                $why = ErrorReport::ofFatalError(error_get_last()['message'] ?? 'the handler ended the process');
                $this->write($job, 'died', null, $this->ran(), $why);
            }
        });

        return fn (Job|array $given, DelayQueue $queue): mixed => $this->run(
            is_array($given) ? $given : [$given],
            static fn (): mixed => $handler($given, $queue),
        );
    }

    /** Whether there are lines that could not be written. */
    public function hasLost(): bool
    {
        return $this->output->hasLost();
    }

    private function listen(DelayQueue $queue): void
    {
        $outcomes = ['succeeded' => 'done', 'released' => 'released', 'buried' => 'buried', 'leaseLost' => 'lost'];
        foreach ($outcomes as $event => $outcome) {
            $queue->on(
                Event::from($event),
                // A lease can be lost after the line of the job, when its acknowledgement arrives too late.
                fn (Event $event, ?JobInterface $job, ?Throwable $error, ?float $seconds) => $this->write($job, $outcome, $error, $seconds),
            );
        }
        $queue->on(Event::Failed, function (Event $event, ?JobInterface $job, ?Throwable $error, ?float $seconds): void {
            // The last attempt: Buried follows, and is the outcome.
            if ($job !== null && ($job->maxAttempts === 0 || $job->attempts < $job->maxAttempts)) {
                $this->write($job, $error instanceof TimeoutException ? 'timedOut' : 'failed', $error, $seconds);
            }
        });
    }

    /** @param non-empty-list<JobInterface> $jobs */
    private function run(array $jobs, Closure $handler): mixed
    {
        [$this->running, $this->startedAt] = [$jobs, hrtime(true) / 1e9];
        $this->inHand?->write($jobs);
        $error = null;
        try {
            $result = $handler();
            $this->hasToldOfFalse = $this->hasToldOfFalse || $result === false && $this->tellOfFalse();

            return $result;
        } catch (Throwable $error) {
            throw $error;
        } finally {
            $this->running = [];
            $this->inHand?->write([]);
            foreach ($jobs as $job) {
                // The handler settled it itself: the queue has nothing to tell.
                if ($job->isSettled()) {
                    $this->write($job, 'settled', $error, $this->ran());
                }
            }
        }
    }

    /** It failed a job before, and whoever relied on that hears of it. @return true */
    private function tellOfFalse(): bool
    {
        $this->notices->say('returnedFalse', 'a handler returned false, which no longer fails a job: throw an exception, or call $job->fail()');

        return true;
    }

    /** For how many seconds. */
    private function ran(): float
    {
        return hrtime(true) / 1e9 - $this->startedAt;
    }

    /** @param array<string, mixed> $why what there is to say where no exception tells */
    private function write(?JobInterface $job, string $outcome, ?Throwable $error, ?float $seconds, array $why = []): void
    {
        if ($job === null) {
            return;
        }
        $fields = [
            'time' => Text::moment(microtime(true)),
            'queue' => $job->queue,
            'id' => $job->id,
            'attempt' => $job->attempts,
            'late_ms' => (int) round(($job->reservedAt - $job->dueAt) * 1000),
            'run_ms' => $seconds === null ? null : round($seconds * 1e3, 1),
            'outcome' => $outcome,
            ...($error === null ? $why : ErrorReport::fields($error)),
            'pid' => getmypid(),
        ];
        $present = array_filter($fields, static fn (mixed $value): bool => $value !== null);
        $this->lines?->end();
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
