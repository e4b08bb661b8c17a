<?php

declare(strict_types=1);

namespace DelayQueue\Console\Check;

use DelayQueue\AuthenticationException;
use DelayQueue\ConnectionException;
use DelayQueue\Console\Failure;
use DelayQueue\Console\QueueChoice;
use DelayQueue\Console\Target;
use DelayQueue\ServerException;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;

/** Looks at the queues that the command line names, by its limits. */
final class Look
{
    private readonly Target $target;

    private readonly QueueChoice $choice;

    private readonly QueueChoice $except;

    private readonly Limits $limits;

    public function __construct(InputInterface $input)
    {
        $this->limits = Limits::of($input);
        $this->target = new Target($input);
        $this->choice = new QueueChoice([...$input->getArgument('name'), ...$this->target->named()], PHP_INT_MAX);
        $this->except = new QueueChoice($input->getOption('except'), PHP_INT_MAX);
        $this->target->anywhere(); // refuses a mistake in the DSN or the prefix
    }

    /** The options of the commands that look. */
    public static function describe(Command $command): void
    {
        $names = 'Names of queues, or patterns such as "mail-*", as with --queue; none: all under the prefix';
        $except = 'Leave these out: names or patterns, such as a failure transport, which has no workers';
        $command->addArgument('name', InputArgument::OPTIONAL | InputArgument::IS_ARRAY, $names)
            ->addOption('except', null, InputOption::VALUE_REQUIRED | InputOption::VALUE_IS_ARRAY, $except);
        Limits::describe($command);
    }

    /** @throws \DelayQueue\Console\UsageException when a queue that is named is not there */
    public function refuseUnknown(): void
    {
        try {
            $this->target->refuseUnknown(...$this->choice->named());
        } catch (ConnectionException) {
            return; // the report says so
        }
    }

    public function report(): Report
    {
        try {
            [$all] = $this->choice->among($this->target->anywhere()->queues(...));
            [$except] = $this->except->among(static fn (): array => $all);
            $names = $this->except->isEmpty() ? $all : array_values(array_diff($all, $except));
            $findings = $paused = [];
            foreach ($names as $name) {
                $stats = $this->target->openWhole($name)->stats();
                array_push($findings, ...$this->limits->judge($name, $stats));
                $stats->paused && ($paused[] = $name);
            }

            return Report::of(count($names), $findings, $paused);
        } catch (AuthenticationException|ServerException $error) {
            return Report::failed(Level::Unknown, 'Redis refuses: ' . Failure::line($error));
        } catch (ConnectionException $error) {
            return Report::failed(Level::Critical, 'Redis cannot be reached: ' . Failure::line($error));
        }
    }
}
