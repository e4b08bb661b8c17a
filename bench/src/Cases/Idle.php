<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Cases;

use DelayQueue\Bench\Benchmark;
use DelayQueue\Bench\Child;
use DelayQueue\Bench\Cpu;
use DelayQueue\Bench\Peers;
use DelayQueue\Bench\Server;
use DelayQueue\Bench\Session;
use DelayQueue\Bench\Table;
use DelayQueue\Bench\Task;
use DelayQueue\Bench\Traits;

/** What a worker costs that has nothing to do: a thousand jobs wait, none is due. All wait at the same time, each beside a server of its own. */
final class Idle implements Benchmark
{
    /** The worker's start is not what is measured. */
    private const SETTLING_US = 500_000;

    /** The longest time after which any of them does something else than before. */
    private const SECONDS = 150;

    public function run(Session $session): iterable
    {
        $columns = [
            'requests_per_s' => 'requests/s',
            'commands_per_s' => 'commands/s',
            'client_percent' => 'worker CPU %',
            'server_percent' => 'server CPU %',
        ];
        $note = 'Commands: those that scripts give count as well. "No worker" is the server by itself.';
        $table = new Table('idle', 'An idle worker', $columns, $note, compared: null);
        $rows = [];
        foreach ($session->peers(static fn (Traits $peer) => !$peer->isFloor) as $peer) {
            foreach (Peers::traits($peer)->polls as $pollMs) {
                $rows[] = [$peer, $pollMs];
            }
        }
        $rows[] = [null, null];
        $idlers = [];
        $session->rotate($table, $rows, self::name(...), static function (array $row) use ($session, &$idlers): void {
            [$peer, $pollMs] = $row;
            $server = $session->server($peer ?? 'floor');
            $worker = null;
            if ($peer !== null) {
                $endpoint = $server->endpoint()->with(pollMs: $pollMs);
                Child::run(new Task($peer, 'Fill', $endpoint, count: 1000));
                $worker = new Child(new Task($peer, 'Listen', $endpoint, seconds: 3600, onSignal: true));
                $worker->waitUntilReady();
                $worker->start();
            }
            usleep(self::SETTLING_US);
            $idlers[] = [$row, $server, $worker, self::look($server, $worker)];
        });
        $session->say('all of them wait');
        usleep((int) (1e6 * $session->seconds(self::SECONDS, self::SECONDS)));
        foreach ($idlers as [$row, $server, $worker, $before]) {
            $after = self::look($server, $worker);
            $seconds = $after['at'] - $before['at'];
            $table->add(self::name($row), [
                'requests_per_s' => ($after['requests'] - $before['requests'] - 1) / $seconds,
                'commands_per_s' => ($after['commands'] - $before['commands'] - 1) / $seconds,
                'client_percent' => ($after['client_us'] - $before['client_us']) / $seconds / 1e4,
                'server_percent' => ($after['server_us'] - $before['server_us']) / $seconds / 1e4,
            ]);
        }
        yield $table;
    }

    public function packages(): array
    {
        return [];
    }

    /** @return array<string, float|int> */
    private static function look(Server $server, ?Child $worker): array
    {
        return $server->counters() + [
            'at' => hrtime(true) / 1e9,
            'client_us' => $worker === null ? 0.0 : Cpu::ofProcessUs($worker->process->pid),
            'server_us' => Cpu::ofProcessUs($server->endpoint()->pid),
        ];
    }

    /** @param array{?string, ?int} $row */
    private static function name(array $row): string
    {
        return $row[0] === null ? 'no worker' : $row[0] . ($row[1] === null ? '' : ", looks every $row[1] ms");
    }
}
