<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Cases;

use DelayQueue\Bench\Benchmark;
use DelayQueue\Bench\Child;
use DelayQueue\Bench\Cpu;
use DelayQueue\Bench\Figure;
use DelayQueue\Bench\Peers;
use DelayQueue\Bench\RedisServer;
use DelayQueue\Bench\Session;
use DelayQueue\Bench\Table;
use DelayQueue\Bench\Task;

/**
 * The commands that Redis executes for a worker of this extension that has nothing to do: in a queue that nobody else uses, and in one to
 * which another process pushes far-off jobs. The same pushes to a queue without a worker are subtracted from the latter.
 */
final class Idle implements Benchmark
{
    private const DEAD = 'nobody else uses the queue';

    private const LIVE = 'another process pushes far-off jobs';

    /** The worker's start is not measured. */
    private const SETTLING_US = 1_000_000;

    private const WAITING = 1000;

    private const PUSHES_PER_S = 10;

    public function run(Session $session): Table
    {
        $columns = ['commands_per_s' => 'commands/s', 'client_percent' => 'worker CPU %'];
        $note = 'Commands that Redis executed for the worker, those in scripts included. ' . self::PUSHES_PER_S . ' pushes a second.';
        $table = new Table('idle', 'An idle worker', $columns, $note);
        if (!$session->has(Peers::OURS)) {
            return $table;
        }
        $seconds = $session->seconds(60, 20);
        $session->say(sprintf('idle for %.1f s', $seconds));
        [$dead, $live, $alone] = [self::filled($session), self::filled($session), self::filled($session)];
        $workers = [self::worker($dead), self::worker($live)];
        usleep(self::SETTLING_US);
        $count = (int) ceil($seconds * self::PUSHES_PER_S);
        $pushers = [self::pusher($live, $seconds, $count), self::pusher($alone, $seconds, $count)];

        $commandsBefore = array_map(static fn (RedisServer $server) => $server->commands(), [$dead, $live, $alone]);
        $cpuBefore = array_map(static fn (Child $worker) => Cpu::ofProcessUs($worker->process->pid), $workers);
        $started = hrtime(true);
        array_map(static fn (Child $pusher) => $pusher->start(), $pushers);
        array_map(static fn (Child $pusher) => $pusher->result(), $pushers);
        $elapsed = (hrtime(true) - $started) / 1e9;
        $commandsAfter = array_map(static fn (RedisServer $server) => $server->commands(), [$dead, $live, $alone]);
        $cpuAfter = array_map(static fn (Child $worker) => Cpu::ofProcessUs($worker->process->pid), $workers);

        [$ofDead, $ofLive, $ofAlone] = array_map(static fn (int $after, int $before) => $after - $before, $commandsAfter, $commandsBefore);
        foreach ([self::DEAD => $ofDead, self::LIVE => $ofLive - $ofAlone] as $row => $commands) {
            $at = $row === self::DEAD ? 0 : 1;
            $table->add($row, 0, [
                'commands_per_s' => $commands / $elapsed,
                'client_percent' => ($cpuAfter[$at] - $cpuBefore[$at]) / $elapsed / 1e4,
            ]);
        }

        return $table;
    }

    public function figures(Table $table): array
    {
        return [
            Figure::atMost('idle commands a second', 1.0, $table->values(self::DEAD, 'commands_per_s')),
            Figure::atMost('idle commands a second in a queue that others push to', 1.0, $table->values(self::LIVE, 'commands_per_s')),
        ];
    }

    private static function filled(Session $session): RedisServer
    {
        $server = $session->server(Peers::OURS);
        assert($server instanceof RedisServer);
        Child::run(new Task(Peers::OURS, 'Fill', $server->endpoint(), count: self::WAITING));

        return $server;
    }

    private static function worker(RedisServer $server): Child
    {
        $worker = new Child(new Task(Peers::OURS, 'Listen', $server->endpoint(), seconds: 3600, onSignal: true));
        $worker->waitUntilReady();
        $worker->start();

        return $worker;
    }

    private static function pusher(RedisServer $server, float $seconds, int $count): Child
    {
        $pusher = new Child(new Task(Peers::OURS, 'PushSlowly', $server->endpoint(), seconds: $seconds, count: $count, onSignal: true));
        $pusher->waitUntilReady();

        return $pusher;
    }
}
