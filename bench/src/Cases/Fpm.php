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

/** The time that connecting and pushing one job adds to a short request: php-fpm with one worker and opcache. */
final class Fpm implements Benchmark
{
    private const WARM = 10;

    public function run(Session $session): Table
    {
        $columns = ['over_us' => 'over the empty request µs', 'request_us' => 'request p50 µs', 'p99_us' => 'request p99 µs'];
        $note = 'The empty request loads the same files and does not connect. Persistent: the connection outlives the request.';
        $table = new Table('fpm', 'A php-fpm request that pushes one job', $columns, $note);
        $extensions = Machine::sharedExtensions(['ctype', 'mbstring', 'igbinary', 'redis']);
        // The peers' libraries use what newer versions of PHP deprecate.
        $pool = ['php_value[error_reporting]' => (string) (E_ALL & ~E_DEPRECATED)];
        $fpm = Signals::hold(static fn () => new PhpFpm($session->folder, $pool, extensions: $extensions));
        $rows = [];
        foreach ($session->peers(static fn (Traits $peer) => !$peer->isFloor) as $peer) {
            foreach (Peers::traits($peer)->persists ? [true, false] : [false] as $persistent) {
                $name = $peer . ($persistent ? ', persistent' : ', new connection');
                $rows[$name] = static fn () => self::measure($session, $fpm, $peer, $persistent);
            }
        }
        $session->rotate($table, $rows);
        $fpm->stop();

        return $table;
    }

    public function figures(Table $table): array
    {
        return [];
    }

    /** @return array<string, float> */
    private static function measure(Session $session, PhpFpm $fpm, string $peer, bool $persistent): array
    {
        $server = $session->server($peer);
        $page = dirname(__DIR__, 2) . '/page.php';
        $query = ['peer' => $peer, 'persistent' => (int) $persistent, 'port' => $server->endpoint()->port];
        $timesUs = ['push' => [], 'empty' => []];
        for ($request = 0, $all = $session->jobs(300, 150); $request < $all + self::WARM; $request++) {
            foreach (array_keys($timesUs) as $kind) {
                $started = hrtime(true);
                $response = $fpm->get($page, $query + ['push' => (int) ($kind === 'push'), 'number' => $request]);
                if ($request >= self::WARM) {
                    $timesUs[$kind][] = (hrtime(true) - $started) / 1000;
                }
                if ($response->body !== 'ok') {
                    throw new RuntimeException("the page said: $response->body $response->errors");
                }
            }
        }

        return [
            'over_us' => Numbers::median($timesUs['push']) - Numbers::median($timesUs['empty']),
            'request_us' => Numbers::median($timesUs['push']),
            'p99_us' => Numbers::percentile($timesUs['push'], 99),
        ];
    }
}
