<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Cases;

use DelayQueue\Bench\Benchmark;
use DelayQueue\Bench\Child;
use DelayQueue\Bench\Order;
use DelayQueue\Bench\Server;
use DelayQueue\Bench\Session;
use DelayQueue\Bench\Table;
use DelayQueue\Bench\Task;
use DelayQueue\Bench\Traits;

/** What the server holds for each waiting job. */
final class Memory implements Benchmark
{
    private const PAYLOAD_BYTES = [16, 200, Order::BYTES, 1024];

    /** A server that has just been filled may still be tidying up its tables. */
    private const SETTLED = 0.0005;

    public function run(Session $session): iterable
    {
        $count = $session->jobs(100_000);
        $columns = [];
        foreach ([Order::BYTES, ...self::PAYLOAD_BYTES] as $bytes) {
            $columns["bytes_$bytes"] = "$bytes B payload";
        }
        $title = 'Bytes of server memory per waiting job, ' . number_format($count) . ' jobs';
        $table = new Table('memory', $title, $columns, 'Ids have 16 bytes. Redis: used_memory; beanstalkd: resident memory.');
        $peers = $session->peers(static fn (Traits $peer) => !$peer->isFloor && $peer->takesIds, variants: true);
        $measure = static function (string $peer, Table $table) use ($session, $count): void {
            $result = [];
            foreach (self::PAYLOAD_BYTES as $bytes) {
                $server = $session->server($peer);
                $before = $server->memory();
                Child::run(new Task($peer, 'Fill', $server->endpoint(), count: $count, payloadBytes: $bytes));
                $result["bytes_$bytes"] = (self::settled($server) - $before) / $count;
            }
            $table->add($peer, $result);
        };
        // Nothing random is in it: one run says all.
        $session->rotate($table, $peers, strval(...), $measure, runs: 1);
        yield $table;
    }

    public function packages(): array
    {
        return [];
    }

    private static function settled(Server $server): int
    {
        do {
            $before = $server->memory();
            usleep(500_000);
            $after = $server->memory();
        } while (abs($after - $before) > self::SETTLED * $before);

        return $after;
    }
}
