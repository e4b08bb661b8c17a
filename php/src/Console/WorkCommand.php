<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue;
use DelayQueue\Console\Database\Database;
use DelayQueue\Console\Database\JournalOption;
use DelayQueue\Console\Worker\HandlerLoader;
use DelayQueue\Console\Worker\InHand;
use DelayQueue\Console\Worker\JobLog;
use DelayQueue\Console\Worker\Lifeline;
use DelayQueue\Console\Worker\Limits;
use DelayQueue\Console\Worker\Notices;
use DelayQueue\Console\Worker\Place;
use DelayQueue\Console\Worker\Pool;
use DelayQueue\Console\Worker\Processes;
use DelayQueue\Console\Worker\Relaunch;
use DelayQueue\Console\Worker\Role;
use DelayQueue\Console\Worker\StopSignal;
use DelayQueue\Console\Worker\Systemd;
use DelayQueue\Event;
use DelayQueue\Internal\RedisClock;
use DelayQueue\Internal\Sealed;
use DelayQueue\Job;
use DelayQueue\StopReason;
use DelayQueue\Worker\TaskRouter;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;
use Throwable;

final class WorkCommand extends Command
{
    public function __construct()
    {
        parent::__construct('work');
    }

    protected function configure(): void
    {
        HandlerLoader::describe($this);
        JobLog::describe($this);
        $this->setDescription('Runs a handler for each job that is due, in one process or many')
            ->setHelp(<<<'TEXT'
                  delayqueue work handler.php --queue=orders --queue=refunds --processes=4

                A worker writes one line per job to standard output, and lines about itself to standard error. After SIGTERM, SIGINT or
                SIGQUIT the workers finish the jobs in hand and end; a second signal changes nothing. A handler that still runs
                --shutdown-timeout after the first one is ended by a ShutdownException, and its job goes back uncounted. After SIGUSR2 the
                workers take no more jobs until SIGCONT. After SIGHUP the parent starts new workers, with new code; once all of them are
                ready, the old ones end. If they do not get ready, the old ones stay. A single worker just ends, for its supervisor to
                start it again. A limit ends one worker; with several processes another takes its place.

                With --processes=2..10 the number of workers follows the load: a worker is added while a ready job has waited longer than
                --scale-target, and the newest one ends after each minute in which none has.
                TEXT . "\n\n" . Application::EXIT_CODES . "\n  75  an operator has ordered a restart (workers:restart) of a single worker\n  124  a handler was stuck beyond its --timeout, or --shutdown-timeout, and --grace-timeout");
        Processes::describe($this);
        Limits::describe($this);
        Role::describe($this);
        JournalOption::describe($this);
        Database::describe($this);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $processes = Processes::of($input);
        $asJson = JobLog::isJson($input);
        $limits = Limits::of($input);
        $notices = new Notices($output, $asJson);
        $lifeline = Lifeline::find();
        $roles = Role::of($input);
        $systemd = Systemd::find();
        // A long job, or a Redis that is away, would keep a worker by itself from giving signs of life.
        $isParent = $lifeline === null && ($processes->most > 1 || $roles !== [] || $systemd->isWatching());
        if ($isParent && (!function_exists('pcntl_signal') || !function_exists('posix_kill'))) {
            $what = $processes->most > 1 ? '--processes' : ($roles === [] ? 'WatchdogSec' : "--{$roles[0]->value}");
            throw new UsageException("$what needs PHP's extensions pcntl and posix");
        }
        if ($lifeline?->role !== null) {
            return self::runBesideWorkers($lifeline->role, $lifeline, $input, $notices);
        }
        $queue = null;
        self::obeySignals($queue, $isParent || $lifeline !== null);
        if ($isParent) {
            return (new Pool(Relaunch::command(), $processes->least, $limits['stopWhenEmpty'], $notices, $roles, $processes->scale(), $systemd))->run();
        }
        // First: files that are loaded may print.
        $log = JobLog::of($input, $output);
        $inHand = $lifeline === null ? null : InHand::ofWorker();
        HandlerLoader::bootstrap($input);
        $target = new Target($input);
        $watching = $target->watching();
        $place = Place::of($target->names(), $watching);
        $lifeline === null ? self::tellOfReadiness($watching, $place, $notices) : $lifeline->attach($watching, $place);
        $systemd->watch($watching);
        self::tellOfRedis($watching, $notices);
        self::tellOfClocks($watching, $notices);
        $handler = HandlerLoader::load($input);
        $task = $handler instanceof TaskRouter && !Sealed::hidesPayloads($watching) ? $handler->taskOf(...) : null;
        JournalOption::watch($watching, $input, $notices);
        $handler = $log->watch($watching, $handler, $inHand);
        // Not before: stop() does not reach a loop that has yet to begin.
        $queue = $watching;
        $reason = $queue->consume($handler, ...$limits, task: $task);
        $lifeline?->ended($reason);
        $lifeline?->isCut() && $inHand?->remove();
        $notices->say('stopped', "worker (process " . getmypid() . ") stopped: $reason->value", ['reason' => $reason->value]);

        // A parent starts another one in any case.
        return $reason === StopReason::Restart && $lifeline === null ? ExitCode::RESTART : ExitCode::OK;
    }

    /** All but SIGTERM are for the parent, which tells this process to end when its workers have ended. A Ctrl-C reaches all of them. */
    private static function runBesideWorkers(Role $role, Lifeline $lifeline, InputInterface $input, Notices $notices): int
    {
        $signal = new StopSignal([SIGTERM], [SIGINT, SIGQUIT, SIGHUP]);
        HandlerLoader::bootstrap($input);
        $role->run($input, $notices, static fn (): bool => $signal->hasCome() || $lifeline->isCut(), $lifeline->tellReady(...), $lifeline->tellLoad(...));

        return ExitCode::OK;
    }

    /**
     * consume() obeys the signals of a running loop, with or without pcntl. This is for the time before and after, when they
     * would end the process in the middle of something; and for SIGHUP, which a parent's workers leave to the parent. A parent that has no workers
     * yet ignores it.
     *
     * @param DelayQueue|null $queue as soon as its loop begins; before that the process just ends
     */
    private static function obeySignals(?DelayQueue &$queue, bool $isOfPool): void
    {
        if (!function_exists('pcntl_signal')) {
            return;
        }
        pcntl_async_signals(true);
        $stop = static function () use (&$queue): void {
            $queue === null ? exit(ExitCode::OK) : $queue->stop();
        };
        foreach ([SIGTERM, SIGINT, SIGQUIT] as $signal) {
            pcntl_signal($signal, $stop);
        }
        pcntl_signal(SIGHUP, $isOfPool ? SIG_IGN : $stop);
    }

    /**
     * For a single worker. That of a parent tells the parent.
     *
     * @param array{queues: list<string>, redis: string, prefix: string} $place
     */
    private static function tellOfReadiness(DelayQueue $queue, array $place, Notices $notices): void
    {
        $message = 'worker (process ' . getmypid() . ') is ready for ' . Place::text($place);
        $queue->on(Event::WorkerReady, static fn () => $notices->say('ready', $message, $place));
    }

    private static function tellOfRedis(DelayQueue $queue, Notices $notices): void
    {
        $queue->on(Event::ConnectionLost, static function (Event $event, ?Job $job, ?Throwable $error) use ($notices): void {
            $notices->say('connectionLost', 'Redis is away: ' . ($error === null ? '' : Failure::line($error)));
        });
        $queue->on(Event::ConnectionRestored, static fn () => $notices->say('connectionRestored', 'Redis is back'));
    }

    /** Once, at the start. Where the Redis user may not ask, nothing is said. */
    private static function tellOfClocks(DelayQueue $queue, Notices $notices): void
    {
        $queue->on(Event::WorkerReady, static function () use ($queue, $notices): void {
            $ahead = RedisClock::ahead($queue) ?? 0.0;
            if (abs($ahead) > 1.0) {
                $message = sprintf("Redis' clock is %+.1f s from this host's: run NTP on both hosts", $ahead);
                $notices->say('clock', $message, ['ahead' => round($ahead, 3)]);
            }
        });
    }
}
