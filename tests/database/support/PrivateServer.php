<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database\Support;

use Exception;
use RuntimeException;

/**
 * A temporary folder with a server in it, as an unprivileged user. Both end with the process that started them, in whatever way it ends: a
 * supervisor reads a pipe from that process, and kills all that works in the folder when the pipe closes.
 */
final class PrivateServer
{
    /**
     * Starts the server in folder $0 and prints its process id. SIGTERM ends a shell that still makes the data, and SIGQUIT makes PostgreSQL wait
     * for no client. Where a test has killed PostgreSQL's first process, the others still work in the folder, which is how they are found, and
     * a segment of shared memory is left, whose number is in postmaster.pid.
     */
    private const SUPERVISOR = <<<'SH'
        folder=$0
        (cd "$folder" && exec "$@") >>"$folder/log" 2>&1 & server=$!
        echo "$server"
        trap "" INT TERM HUP
        read -r order
        kill -CONT "$server"
        kill -TERM "$server"
        kill -QUIT "$server"
        for try in $(seq 500); do
            case $(cut -d ' ' -f 3 "/proc/$server/stat") in '' | Z) break ;; esac
            sleep 0.02
        done
        kill -KILL "$server"
        while left=$(ls -l /proc/[0-9]*/cwd | sed -n "s|.* /proc/\([0-9]*\)/cwd -> $folder.*|\1|p") && [ -n "$left" ]; do
            kill -KILL $left
            sleep 0.01
        done
        wait
        if [ "$order" != keep ]; then
            [ ! -f "$folder/data/postmaster.pid" ] || ipcrm -m "$(sed -n '7s/.* //p' "$folder/data/postmaster.pid")"
            rm -rf "$folder"
        fi
        SH;

    public readonly string $folder;

    private readonly int $owner;

    /** @var resource|null the supervisor */
    private $process;

    /** @var resource|null a line, or its end, stops the server */
    private $lifeline;

    private ?int $pid = null;

    /** @param bool $owned whether the files are the unprivileged user's; else they are those of this process' user */
    public function __construct(private readonly bool $owned = true)
    {
        $this->owner = (int) getmypid();
        // Never /tmp, which may be memory: an fsync has to cost there what it costs users.
        $this->folder = '/var/tmp/delayqueue-' . bin2hex(random_bytes(6));
    }

    /**
     * @param list<string> $command it starts in the folder
     * @param callable(): mixed $ask throws for as long as it does not answer
     *
     * @throws RuntimeException if it ends, or does not answer in time; with what it logged
     */
    public function start(array $command, callable $ask, float $patience = 60.0): void
    {
        $this->makeFolder();
        $supervisor = [...$this->launcher(), '/bin/sh', '-c', self::SUPERVISOR, $this->folder, ...$command];
        $process = proc_open($supervisor, [['pipe', 'r'], ['pipe', 'w'], ['file', '/dev/null', 'a']], $pipes, '/');
        if ($process === false) {
            throw new RuntimeException('cannot start /bin/sh');
        }
        [$this->process, $this->lifeline] = [$process, $pipes[0]];
        $this->pid = (int) fgets($pipes[1]);
        for ($deadline = microtime(true) + $patience; ; usleep(10_000)) {
            try {
                $ask();

                return;
            } catch (Exception $e) {
                if (!$this->isRunning() || microtime(true) > $deadline) {
                    $logged = (string) file_get_contents("$this->folder/log");
                    $this->stop();
                    throw new RuntimeException("the private server does not answer: {$e->getMessage()}. It logged:\n$logged", 0, $e);
                }
            }
        }
    }

    public function pid(): int
    {
        return $this->pid ?? throw new RuntimeException('the private server is not running');
    }

    public function isRunning(): bool
    {
        // A dead process stays as a zombie until its parent has asked for it.
        $stat = $this->pid === null ? '' : (string) @file_get_contents("/proc/$this->pid/stat");

        return $stat !== '' && substr($stat, (int) strrpos($stat, ')') + 2, 1) !== 'Z';
    }

    /** @return list<int> the server's process and its children */
    public function processes(): array
    {
        if (!$this->isRunning()) {
            return [];
        }
        $children = (string) @file_get_contents("/proc/$this->pid/task/$this->pid/children");

        return [$this->pid, ...array_map(intval(...), preg_split('/ /', $children, -1, PREG_SPLIT_NO_EMPTY))];
    }

    /** Ends the server by a signal, and keeps its files. */
    public function halt(int $signal, float $patience = 60.0): void
    {
        if ($this->isRunning()) {
            posix_kill($this->pid(), $signal);
            for ($deadline = microtime(true) + $patience; $this->isRunning() && microtime(true) < $deadline; usleep(5_000));
        }
        $this->end('keep');
    }

    /** Ends the server and removes its folder. In a forked child it does nothing: the server is the parent's. */
    public function stop(): void
    {
        $this->end('stop');
    }

    private function end(string $order): void
    {
        if ($this->process === null || $this->owner !== getmypid()) {
            return;
        }
        // A line, because forked children may still hold the pipe open.
        fwrite($this->lifeline, "$order\n");
        fclose($this->lifeline);
        proc_close($this->process);
        $this->process = $this->lifeline = $this->pid = null;
    }

    private function makeFolder(): void
    {
        if (is_dir($this->folder)) {
            return;
        }
        if (!mkdir($this->folder, 0o700)) {
            throw new RuntimeException("cannot make the folder $this->folder for a private server");
        }
        if ($this->owned && posix_geteuid() === 0) {
            chown($this->folder, self::unprivileged()['uid']);
        }
    }

    /** @return list<string> a session of its own, so that no Ctrl-C of a terminal ends a server before its tests */
    private function launcher(): array
    {
        if (!$this->owned || posix_geteuid() !== 0) {
            return ['setsid'];
        }
        ['uid' => $user, 'gid' => $group] = self::unprivileged();

        return ['setsid', 'setpriv', "--reuid=$user", "--regid=$group", '--clear-groups', '--'];
    }

    /** @return array{uid: int, gid: int} PostgreSQL and MariaDB refuse to run as root */
    private static function unprivileged(): array
    {
        return posix_getpwnam('nobody') ?: throw new RuntimeException('no user nobody here, as whom a private server could run');
    }
}
