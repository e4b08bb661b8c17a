<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue;
use DelayQueue\Exception;

/** A redis-server in the background. */
final class Daemon
{
    /** Seconds; Redis reads all its data before it answers. */
    private const LOADS_FOR = 300;

    /**
     * Starts it, and comes back once it answers. It inherits what this process has open, so also the lock on its folder.
     *
     * @param list<string> $settings of the command line of redis-server
     *
     * @throws NothingDone when it does not start; its log says why
     */
    public static function start(string $binary, array $settings, string $directory, string $dsn): void
    {
        [$pidFile, $log] = ["$directory/redis.pid", "$directory/redis.log"];
        $command = [$binary, ...$settings, '--daemonize', 'yes', '--pidfile', $pidFile, '--logfile', $log];
        $null = ['file', '/dev/null', 'r+'];
        $process = proc_open($command, [$null, $null, $null], $pipes);
        if ($process === false || proc_close($process) !== 0) {
            throw new NothingDone("$binary does not start: see $log");
        }
        self::await($dsn, $log, static function () use ($pidFile): bool {
            $pid = (int) @file_get_contents($pidFile);

            return $pid > 0 && @readlink("/proc/$pid/exe") === false;
        });
    }

    /**
     * Comes back once it answers.
     *
     * @param callable(): bool $isGone asked when it does not answer
     *
     * @throws NothingDone when it is gone, or does not answer
     */
    public static function await(string $dsn, string $log, callable $isGone): void
    {
        $queue = new DelayQueue('default', $dsn, ['persistent' => false]);
        for ($until = microtime(true) + self::LOADS_FOR; ; usleep(20_000)) {
            try {
                $queue->queues();

                return;
            } catch (Exception $error) {
                if (microtime(true) > $until || $isGone()) {
                    throw new NothingDone("redis-server does not answer ({$error->getMessage()}): see $log", 0, $error);
                }
            }
        }
    }
}
