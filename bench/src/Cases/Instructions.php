<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Cases;

use DelayQueue\Bench\Benchmark;
use DelayQueue\Bench\Child;
use DelayQueue\Bench\Peers;
use DelayQueue\Bench\Session;
use DelayQueue\Bench\Table;
use DelayQueue\Bench\Task;
use RuntimeException;

/**
 * Instructions that client and server execute for one job outside the kernel, counted by callgrind. Unlike times they do not depend on
 * the other work of the machine. Two runs with different numbers of jobs are subtracted, so that starting up is not in them.
 */
final class Instructions implements Benchmark
{
    public const CALLGRIND = ['valgrind', '--tool=callgrind', '--callgrind-out-file=/dev/null'];

    /** Work, prefetch and heading by metric. */
    private const WORK = [
        'push' => ['Push', 1, 'push'],
        'take' => ['Take', 1, 'reserve + ack'],
        'consume_1' => ['Consume', 1, 'prefetch 1'],
        'consume_16' => ['Consume', 16, 'prefetch 16'],
        'consume_64' => ['Consume', 64, 'prefetch 64'],
    ];

    /** Jobs of the two runs: whole batches of 64. */
    private const FEW = 256;

    private const MANY = 1280;

    private const FILL = 1500;

    public function run(Session $session): Table
    {
        $columns = [];
        foreach (self::WORK as $name => [, , $heading]) {
            $columns["{$name}_client"] = "$heading: client";
            $columns["{$name}_server"] = "$heading: server";
        }
        $note = 'The harness is in all of them: the row of the floor tells about how much.';
        $table = new Table('instructions', 'Instructions per job outside the kernel', $columns, $note);
        $rows = [];
        foreach ($session->peers() as $peer) {
            $rows[$peer] = static fn () => self::measure($session, $peer);
        }
        $session->rotate($table, $rows, runs: 1);

        return $table;
    }

    public function figures(Table $table): array
    {
        return [];
    }

    /** @return array<string, float> */
    private static function measure(Session $session, string $peer): array
    {
        $result = [];
        foreach (self::WORK as $name => [$work, $prefetch]) {
            if ($prefetch > 1 && $peer !== Peers::OURS) {
                continue;
            }
            foreach (['client', 'server'] as $side) {
                $session->say("instructions: $name with $peer, $side");
                $few = self::count($session, $peer, $work, $prefetch, self::FEW, $side);
                $many = self::count($session, $peer, $work, $prefetch, self::MANY, $side);
                $result["{$name}_$side"] = ($many - $few) / (self::MANY - self::FEW);
            }
        }

        return $result;
    }

    /** @param 'client'|'server' $side the one that callgrind looks at */
    private static function count(Session $session, string $peer, string $work, int $prefetch, int $jobs, string $side): int
    {
        $server = $session->server($peer, $side === 'server' ? self::CALLGRIND : []);
        if ($work !== 'Push') {
            Child::run(new Task($peer, 'Fill', $server->endpoint(), count: self::FILL, delayMs: 0));
        }
        $task = new Task($peer, $work, $server->endpoint(), seconds: 3600, count: $jobs, prefetch: $prefetch);
        $client = new Child($task, $side === 'client' ? self::CALLGRIND : []);
        $client->result();
        $said = $side === 'client' ? $client->process->errors() : $server->stop();
        if (!preg_match('/Collected : (\d+)/', $said, $found)) {
            throw new RuntimeException("callgrind counted nothing: $said");
        }

        return (int) $found[1];
    }
}
