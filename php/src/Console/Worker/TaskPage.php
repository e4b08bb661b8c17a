<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

use Closure;
use DelayQueue\Console\NothingDone;

/** Shows the numbers of tasks to Prometheus over HTTP, from a process beside the workers. */
final class TaskPage
{
    private const PATIENCE_S = 2;
    private const LONGEST_REQUEST = 8192;
    private const MOST_LINES = 100;
    private const HANDOVER_S = 5;

    public function __construct(private readonly string $listen)
    {
    }

    /**
     * @param Closure(): bool $stop
     * @param Closure(): void $ready
     */
    public function run(TaskNumbers $numbers, Closure $stop, Closure $ready): void
    {
        // After a SIGHUP the one before has the address until this one is ready.
        $ready();
        for ($until = hrtime(true) + self::HANDOVER_S * 1e9; ($server = @stream_socket_server("tcp://$this->listen", $code, $why)) === false; usleep(50_000)) {
            if ($stop()) {
                return;
            }
            hrtime(true) < $until || throw new NothingDone("cannot listen on $this->listen: $why");
        }
        while (!$stop()) {
            [$read, $none] = [[$server], []];
            if (@stream_select($read, $none, $none, 1) > 0) {
                $client = @stream_socket_accept($server, 0);
                $client === false || self::answer($client, $numbers);
            }
        }
    }

    /** @param resource $client */
    private static function answer($client, TaskNumbers $numbers): void
    {
        stream_set_timeout($client, self::PATIENCE_S);
        $request = (string) fgets($client, self::LONGEST_REQUEST);
        for ($lines = 0; $lines < self::MOST_LINES && rtrim((string) fgets($client, self::LONGEST_REQUEST)) !== ''; ++$lines);
        [$status, $body] = match (true) {
            preg_match('~^GET /metrics[ ?]~', $request) === 1 => ['200 OK', $numbers->page()],
            preg_match('~^GET /healthz[ ?]~', $request) === 1 => ['200 OK', "ok\n"],
            default => ['404 Not Found', "/metrics  numbers by the names of tasks, for Prometheus\n/healthz  200 while this server runs\n"],
        };
        $length = strlen($body);
        @fwrite($client, "HTTP/1.0 $status\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: $length\r\nConnection: close\r\n\r\n$body");
        fclose($client);
    }
}
