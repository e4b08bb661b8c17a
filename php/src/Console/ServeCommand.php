<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

/**
 * Becomes a redis-server (exec), so that signals reach it and its end is the end of this process. The lock on the folder is
 * an open file that redis-server inherits: it is free again when the server is gone, in whatever way. The settings of the server are in it.
 */
final class ServeCommand extends Command
{
    /** The length of sun_path, less the closing zero. */
    private const LONGEST_SOCKET = 107;

    private const DEFAULTS = ['port' => '0', 'maxmemory' => '0', 'appendfsync' => 'everysec'];

    public function __construct()
    {
        parent::__construct('serve');
    }

    protected function configure(): void
    {
        $value = InputOption::VALUE_REQUIRED;
        $this->setDescription('Runs a private redis-server that keeps its jobs, for development and small sites')
            ->addOption('dir', null, $value, 'Where its data and its socket are, for this user only; made if it is missing')
            ->addOption('port', null, $value, 'Listen on this port of the loopback interface, too, for every user of the machine (default: none)')
            ->addOption('maxmemory', null, $value, 'Pushes are refused beyond this, such as 256mb; 0: no limit (default: 0)')
            ->addOption('appendfsync', null, $value, 'When changes are forced to the disk: everysec, or always, before they are answered (default: everysec)')
            ->addOption('daemon', null, InputOption::VALUE_NONE, 'Come back once it answers, and leave it running, also one that runs already; redis.pid and redis.log are in --dir')
            ->addOption('binary', null, $value, 'Which redis-server; else the environment\'s REDIS_SERVER, else the one in PATH')
            ->setHelp(<<<'TEXT'
                  delayqueue serve --dir=var/queue

                Prints the DSN to use, then becomes redis-server, whose log follows. It appends every change to a file (AOF) and evicts
                nothing. SIGTERM and SIGINT (Ctrl-C) end it with everything saved. A kill -9 can lose the last changes, up to about two
                seconds of them, if the disk was busy just then; a power failure loses about as much on any disk. With
                --appendfsync=always neither loses anything that was answered, and every push waits for the disk.

                  DELAYQUEUE_DSN=$(delayqueue serve --dir=var/queue --daemon) && export DELAYQUEUE_DSN
                  kill "$(cat var/queue/redis.pid)"

                With --daemon the command ends when Redis answers, and the server goes on until it is told to end. Where one serves the folder
                already, the command prints its DSN, unless other options are given than it runs with.
                TEXT . "\n\n" . Application::EXIT_CODES);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $folder = DataFolder::open($input->getOption('dir') ?? throw new UsageException('--dir is missing: name the folder for the data'));
        $directory = $folder->path;
        $given = array_filter(array_intersect_key($input->getOptions(), self::DEFAULTS), is_string(...));
        $options = $given + self::DEFAULTS;
        $options['port'] = (string) Number::of($options['port'], '--port', 0, Listen::LAST_PORT);
        if (!in_array($options['appendfsync'], ['everysec', 'always'], true)) {
            throw new UsageException('--appendfsync must be everysec or always');
        }
        $binary = $this->binary($input->getOption('binary') ?? (getenv('REDIS_SERVER') ?: 'redis-server'));
        $socket = "$directory/redis.sock";
        if (strlen($socket) > self::LONGEST_SOCKET) {
            throw new UsageException("the path of the socket, $socket, is longer than " . self::LONGEST_SOCKET . ' bytes: take a shorter --dir');
        }
        $dsn = 'redis+unix://' . implode('/', array_map(rawurlencode(...), explode('/', $socket))) . '?db=0';
        $errors = Format::errors($output);
        $lock = @fopen("$directory/serve.lock", 'c+') ?: throw new NothingDone("cannot write $directory/serve.lock");
        if (!flock($lock, LOCK_EX | LOCK_NB)) {
            if (!$input->getOption('daemon')) {
                throw new NothingDone("$directory is being served already");
            }
            $errors->writeln("delayqueue: $directory is being served already", OutputInterface::OUTPUT_RAW);
            Daemon::await($dsn, 'its log', static fn (): bool => flock($lock, LOCK_EX | LOCK_NB));
            $running = (array) json_decode((string) stream_get_contents($lock), true) + self::DEFAULTS;
            foreach (array_diff_assoc(array_intersect_key($options, $given), $running) as $name => $value) {
                throw new NothingDone("$directory is not served with --$name=$value but with --$name={$running[$name]}");
            }
            Format::raw($output, $dsn);

            return ExitCode::OK;
        }
        ftruncate($lock, 0);
        try {
            Streams::write($lock, json_encode($options, JSON_THROW_ON_ERROR));
        } catch (StreamError $error) {
            throw new NothingDone("cannot write $directory/serve.lock: {$error->getMessage()}", 0, $error);
        }
        if ($folder->close()) {
            $errors->writeln("delayqueue: other users could read the data in $directory; from now on they cannot", OutputInterface::OUTPUT_RAW);
        }

        $settings = $this->settings(['dir' => $directory, 'unixsocket' => $socket] + $options);
        if ($input->getOption('daemon')) {
            Daemon::start($binary, $settings, $directory, $dsn);
            Format::raw($output, $dsn); // alone: it goes into a variable

            return ExitCode::OK;
        }
        Format::raw($output, $dsn);
        if ($options['port'] !== '0') {
            Format::raw($output, "redis://127.0.0.1:{$options['port']}/0");
        }
        pcntl_exec($binary, $settings);
        throw new NothingDone("cannot run $binary");
    }

    /**
     * @param array<string, string> $settings beside those that are always the same
     *
     * @return list<string>
     */
    private function settings(array $settings): array
    {
        $always = [
            'unixsocketperm' => '600', 'bind' => '127.0.0.1', 'appendonly' => 'yes', 'save' => '', 'maxmemory-policy' => 'noeviction',
        ];
        $arguments = [];
        foreach ($settings + $always as $name => $value) {
            array_push($arguments, "--$name", $value);
        }

        return $arguments;
    }

    private function binary(string $name): string
    {
        $folders = str_contains($name, '/') ? [dirname($name)] : explode(':', (string) getenv('PATH'));
        foreach ($folders as $folder) {
            $file = "$folder/" . basename($name);
            if (is_file($file) && is_executable($file)) {
                return $file;
            }
        }
        throw new NothingDone("no $name here: install Redis, or name its server with --binary");
    }
}
