<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue;
use DelayQueue\Console\Database\JournalListCommand;
use DelayQueue\Console\Database\JournalPruneCommand;
use DelayQueue\Console\Database\JournalRebuildCommand;
use DelayQueue\Console\Database\JournalSearchCommand;
use DelayQueue\Console\Database\JournalShowCommand;
use DelayQueue\Console\Database\OutboxInstallCommand;
use DelayQueue\Console\Database\OutboxRelayCommand;
use DelayQueue\Console\Database\OutboxStatusCommand;
use DelayQueue\Console\Worker\Notices;
use DelayQueue\WorkerOrder;
use Symfony\Component\Console\Application as SymfonyApplication;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Command\ListCommand as SymfonyListCommand;
use Symfony\Component\Console\Exception\CommandNotFoundException;
use Symfony\Component\Console\Exception\ExceptionInterface;
use Symfony\Component\Console\Input\ArgvInput;
use Symfony\Component\Console\Input\ArrayInput;
use Symfony\Component\Console\Input\InputDefinition;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\OutputInterface;
use Throwable;

/** The command line as a whole: its commands, the options they share, and how it fails. */
final class Application extends SymfonyApplication
{
    public const EXIT_CODES = <<<'TEXT'
        <comment>Exit codes:</comment>
          0  done
          1  not done: there is no such job, it may not be done, or something is in a bad state
          2  wrong usage: an option, an argument, or a handler that cannot be loaded
          3  Redis cannot be reached, or does not accept the credentials
          4  Redis was reached and refused
          5  the database cannot be reached or refuses, or a table is missing or of another version
        TEXT;

    /** Symfony's hidden command that completes a line. */
    private const COMPLETE = '_complete';

    private bool $isCompleting = false;

    public function __construct()
    {
        parent::__construct('delayqueue', DelayQueue::VERSION);
        $this->setCatchExceptions(false);
        $this->setAutoExit(false);
        $this->addCommands([
            new WorkCommand(), new DrainCommand(), new PushCommand(), new StatsCommand(), new ListCommand(), new ShowCommand(),
            new CancelCommand(), new KickCommand(), new RescheduleCommand(), new PauseCommand(), new ResumeCommand(),
            new PurgeCommand(), new DoctorCommand(), new InstallScriptsCommand(), new ServeCommand(), new MetricsCommand(), new DashboardCommand(), new DumpCommand(), new LoadCommand(),
            new ResealCommand(), new ForgetCommand(), new ReceiptsCommand(), new ForgetReceiptsCommand(), new WorkersCommand(),
            new GroupsCommand(), new LimitCommand(), new RateLimitCommand(),
            new CheckCommand(), new WatchCommand(), new UpdateCommand(),
            new MoveCommand(),
            new OutboxInstallCommand(), new OutboxRelayCommand(), new OutboxStatusCommand(),
            new JournalListCommand(), new JournalShowCommand(), new JournalSearchCommand(), new JournalPruneCommand(), new JournalRebuildCommand(),
            new SchedulesCommand(), new ScheduleShowCommand(), new ScheduleSetCommand(),
            ...array_map(static fn (ScheduleOrder $order): Command => new ScheduleOrderCommand($order), ScheduleOrder::cases()),
            ...array_map(static fn (WorkerOrder $order): Command => new WorkerOrderCommand($order), WorkerOrder::cases()),
        ]);
        $this->setDefaultCommand(OverviewCommand::NAME);
    }

    /** Runs what the command line of this process says and returns the exit code. */
    public static function main(): int
    {
        self::keepStandardStreams();

        return (new self())->answer(new ArgvInput(), new StandardOutput());
    }

    /** Runs a command and returns the exit code. What goes wrong is said on the error output. */
    public function answer(InputInterface $input, OutputInterface $output): int
    {
        try {
            return $this->run($input, $output);
        } catch (Throwable $error) {
            if ($error instanceof StreamError && $error->isBrokenPipe()) {
                return ExitCode::PIPE;
            }
            // Also where the options could not be read.
            $input->getParameterOption('--log') === Format::JSON ? Notices::complain($output, $error) : self::complain($output, $error);

            return Failure::exitCode($error);
        }
    }

    /**
     * Takes the places of standard streams that are closed. Otherwise the connection to Redis would get one of their
     * numbers, and Redis what is printed.
     */
    private static function keepStandardStreams(): void
    {
        static $kept = [];
        foreach (['stdin', 'stdout', 'stderr'] as $name) {
            if (@fopen("php://$name", 'r') === false) {
                $kept[] = fopen('/dev/null', 'r');
            }
        }
    }

    /** One line on standard error, and with -v where it came from. */
    public static function complain(OutputInterface $output, Throwable $error): void
    {
        $errors = Format::errors($output);
        $errors->writeln('delayqueue: ' . Failure::line($error), OutputInterface::OUTPUT_RAW | OutputInterface::VERBOSITY_QUIET);
        if ($output->isVerbose()) {
            $errors->writeln(Failure::trace($error), OutputInterface::OUTPUT_RAW);
        }
    }

    public function doRun(InputInterface $input, OutputInterface $output): int
    {
        try {
            // Symfony can tell the command's name from the value of an option only once it knows the options.
            $input->bind($this->getDefinition());
        } catch (ExceptionInterface) {
            // Options of a command; the command will look at them.
        }
        $name = $this->getCommandName($input);
        if ($name === null && !$input->hasParameterOption(['--version', '-V'], true)) {
            $input = new ArrayInput(['command' => OverviewCommand::NAME]);
        } elseif ($name !== null) {
            $this->isCompleting = $name === self::COMPLETE;
            $this->find($name); // refuses an unknown one; Symfony would ask on a terminal, and end with 1
        }

        return parent::doRun($input, $output);
    }

    /** While a shell completes a line, Symfony's command for that finds the commands here. */
    public function find(string $name): Command
    {
        try {
            $command = parent::find($name);
        } catch (CommandNotFoundException $error) {
            throw UnknownCommand::explain($error, $name);
        }

        $isInner = $this->isCompleting && $command->getName() !== self::COMPLETE;

        return $isInner ? new CompletingCommand($command) : $command;
    }

    /** Errors about options and arguments say what may be meant. */
    protected function doRunCommand(Command $command, InputInterface $input, OutputInterface $output): int
    {
        try {
            return parent::doRunCommand($command, $input, $output);
        } catch (ExceptionInterface $error) {
            throw UsageHint::explain($error, $command);
        }
    }

    protected function getDefaultInputDefinition(): InputDefinition
    {
        $definition = parent::getDefaultInputDefinition();
        Target::describe($definition);

        return $definition;
    }

    /** @return array<Command> */
    protected function getDefaultCommands(): array
    {
        $own = array_filter(parent::getDefaultCommands(), static fn (Command $command): bool => !$command instanceof SymfonyListCommand);

        return [...array_values($own), new OverviewCommand()];
    }
}
