<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Cases;

use DelayQueue\Bench\Benchmark;
use DelayQueue\Bench\Child;
use DelayQueue\Bench\Delay;
use DelayQueue\Bench\Figure;
use DelayQueue\Bench\Peers;
use DelayQueue\Bench\Session;
use DelayQueue\Bench\Table;
use DelayQueue\Bench\Task;

/** The server half a millisecond away: all peers talk to it through the same delaying proxy. */
final class Network implements Benchmark
{
    private const DELAY_EACH_WAY_US = 250;

    /** Prefetch, and how much faster than beanstalkd a worker with it is to be. */
    private const WANTED = [1 => 1.9, 16 => 20.0, 64 => 60.0];

    public function run(Session $session): Table
    {
        $note = 'All through one proxy, ' . self::DELAY_EACH_WAY_US . ' µs each way. The floor says how long a PING takes through it.';
        $columns = ['jobs_per_s' => 'jobs/s', 'p50_us' => 'p50 µs', 'p99_us' => 'p99 µs'];
        $table = new Table('network', 'Half a millisecond away', $columns, $note);
        $binary = Delay::compile($session->folder->path);
        $rows = [];
        foreach ($session->peers() as $peer) {
            $rows["$peer, push"] = static function () use ($session, $peer, $binary): array {
                $server = $session->server($peer);
                $proxy = new Delay($binary, $server->endpoint()->port, self::DELAY_EACH_WAY_US);
                $seconds = $session->seconds(2.0, 0.6);

                return Child::run(new Task($peer, 'Push', $server->endpoint()->through($proxy->port), seconds: $seconds));
            };
        }
        foreach (array_keys(self::WANTED) as $prefetch) {
            $rows[self::name($prefetch)] = static fn () => self::consume($session, Peers::OURS, $prefetch, $binary);
        }
        $rows['beanstalkd, a worker'] = static fn () => self::consume($session, 'beanstalkd', 1, $binary);
        $session->rotate($table, array_filter($rows, static fn (string $row) => $session->has(strtok($row, ',')), ARRAY_FILTER_USE_KEY));

        return $table;
    }

    public function figures(Table $table): array
    {
        $away = 'over 0.5 ms of added round trip';
        $pushes = $table->ratios(Peers::OURS . ', push', 'two-key, push', 'jobs_per_s');
        $figures = [Figure::atLeast("$away: push, of the recipe", 0.98, $pushes)];
        foreach (self::WANTED as $prefetch => $wanted) {
            $ratios = $table->ratios(self::name($prefetch), 'beanstalkd, a worker', 'jobs_per_s');
            $figures[] = Figure::atLeast("$away: prefetch $prefetch, of beanstalkd", $wanted, $ratios);
        }

        return $figures;
    }

    /** @return array<string, mixed> */
    private static function consume(Session $session, string $peer, int $prefetch, string $binary): array
    {
        $count = $session->jobs($prefetch * 4000, $prefetch * 1500);
        $server = $session->filledServer($peer, $count);
        $proxy = new Delay($binary, $server->endpoint()->port, self::DELAY_EACH_WAY_US);
        $endpoint = $server->endpoint()->through($proxy->port);

        return Child::run(new Task($peer, 'Consume', $endpoint, seconds: $session->seconds(2.0, 0.6), count: $count, prefetch: $prefetch));
    }

    private static function name(int $prefetch): string
    {
        return Peers::OURS . ", prefetch $prefetch";
    }
}
