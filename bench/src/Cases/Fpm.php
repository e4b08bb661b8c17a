<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Cases;

use DelayQueue\Bench\Benchmark;
use DelayQueue\Bench\Machine;
use DelayQueue\Bench\Numbers;
use DelayQueue\Bench\Peers;
use DelayQueue\Bench\Session;
use DelayQueue\Bench\Signals;
use DelayQueue\Bench\Table;
use DelayQueue\Bench\Traits;
use DelayQueue\Tests\Support\Fpm as PhpFpm;
use RuntimeException;

/** What connecting and pushing one job adds to a short request: php-fpm with one worker and opcache. */
final class Fpm implements Benchmark
{
    private const WARM = 10;

    public function run(Session $session): iterable
    {
        $columns = ['over_us' => 'over the empty request µs', 'request_us' => 'request p50 µs', 'p99_us' => 'request p99 µs'];
        $note = 'The empty request loads the same files and does not connect. Persistent: the connection outlives the request.';
        $table = new Table('fpm', 'A php-fpm request that pushes one job', $columns, $note, compared: 'delayqueue, persistent');
        $rows = [];
        foreach ($session->peers(static fn (Traits $peer) => !$peer->isFloor) as $peer) {
            if (Peers::traits($peer)->persists) {
                $rows[] = [$peer, true];
            }
            $rows[] = [$peer, false];
        }
        // Illuminate's files say things that newer versions of PHP deprecate.
        $pool = ['php_value[error_reporting]' => (string) (E_ALL & ~E_DEPRECATED)];
        $extensions = Machine::sharedExtensions(['ctype', 'mbstring', 'tokenizer', 'igbinary', 'redis']);
        $fpm = Signals::hold(static fn () => new PhpFpm($session->folder, $pool, extensions: $extensions));
        $session->rotate($table, $rows, self::name(...), static function (array $row, Table $table) use ($session, $fpm): void {
            [$peer, $persistent] = $row;
            $server = $session->server($peer);
            $query = ['peer' => $peer, 'persistent' => (int) $persistent, 'port' => $server->endpoint()->port];
            $page = dirname(__DIR__, 2) . '/page.php';
            $times = ['push' => [], 'empty' => []];
            for ($request = 0, $all = $session->jobs(300, 150); $request < $all + self::WARM; $request++) {
                foreach (array_keys($times) as $kind) {
                    $started = hrtime(true);
                    $response = $fpm->get($page, $query + ['push' => (int) ($kind === 'push'), 'number' => $request]);
                    if ($request >= self::WARM) {
                        $times[$kind][] = (hrtime(true) - $started) / 1000;
                    }
                    if ($response->body !== 'ok') {
                        throw new RuntimeException("the page said: $response->body $response->errors");
                    }
                }
            }
            $table->add(self::name($row), [
                'over_us' => Numbers::median($times['push']) - Numbers::median($times['empty']),
                'request_us' => Numbers::median($times['push']),
                'p99_us' => Numbers::percentile($times['push'], 99),
            ]);
        });
        $fpm->stop();
        yield $table;
    }

    public function packages(): array
    {
        return [];
    }

    /** @param array{string, bool} $row */
    private static function name(array $row): string
    {
        return $row[0] . ($row[1] ? ', persistent' : ', new connection');
    }
}
