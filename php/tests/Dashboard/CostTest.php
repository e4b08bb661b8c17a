<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Dashboard;

use DelayQueue;
use DelayQueue\Dashboard\Access;
use DelayQueue\Dashboard\Handler;
use DelayQueue\Dashboard\Request;
use DelayQueue\Tests\OnAnyStore;
use PHPUnit\Framework\TestCase;
use RuntimeException;

/** Pages cost Redis little with 10,000 queues and one of 10,000 jobs, by Redis' own numbers; and pages and sources are small. */
final class CostTest extends TestCase
{
    use OnAnyStore;

    private const QUEUES = 10_000;

    private const REQUESTS = 60;

    /**
     * Three for each of 50 queues: its numbers, its workers, its partitions; or as many for the health of a dozen. The
     * list of queues comes in pages of 1,000 names.
     */
    private const REQUESTS_OF_MANY_QUEUES = 3 * 50 + self::QUEUES / 1_000 + 5;

    /** A page costs Redis no more than so many calls of stats(): 10 ms where one takes 50 µs, whatever else the machine does. */
    private const CALLS_OF_STATS = 200;

    /** @group redis */
    #[\PHPUnit\Framework\Attributes\Group('redis')]
    public function testAPageAsksRedisForFewThings(): void
    {
        $this->seed();
        $large = ['queue' => 'q00000'];
        $pages = [
            ['/', []], ['/', ['from' => 'q05000']], ['/', ['name' => 'q0*']],
            ['/', ['look' => '1', 'from' => 'q09950']],
            ['/queue', $large + ['state' => 'delayed', 'range' => 'minute']], ['/queue', $large + ['state' => 'delayed', 'text' => 'is nowhere']],
            ['/queue', $large + ['state' => 'buried']], ['/errors', $large], ['/groups', $large], ['/job', $large + ['id' => 'one']],
            ['/schedules', []], ['/workers', []], ['/health', []], ['/health', ['after' => 'q05000']],
        ];
        foreach ($pages as [$path, $query]) {
            $name = "$path " . json_encode($query);
            $costs = array_map(fn (): array => $this->cost($path, $query), range(1, 10));
            $most = self::CALLS_OF_STATS / 20 * min(array_map($this->costOfTwentyStats(...), range(1, 5)));
            $this->assertLessThanOrEqual(
                in_array($path, ['/', '/health'], true) ? self::REQUESTS_OF_MANY_QUEUES : self::REQUESTS,
                min(array_column($costs, 0)),
                $name,
            );
            // Of several runs the best one: others use this machine, too.
            $this->assertLessThanOrEqual($most, min(array_column($costs, 1)), $name);
        }
    }

    public function testTheSourcesOfTheDashboardAreSmall(): void
    {
        $source = dirname(__DIR__, 2) . '/src';
        $lines = static fn (string ...$files): int => array_sum(array_map(static fn (string $file): int => count(file($file) ?: []), $files));
        $all = [];
        foreach (['Dashboard', 'Dashboard/*', 'Console/Dashboard', 'Laravel/Dashboard', 'Symfony/Dashboard'] as $folder) {
            array_push($all, ...array_filter(glob("$source/$folder/*") ?: [], is_file(...)));
        }
        $all = array_unique([...$all, "$source/Console/DashboardCommand.php", "$source/Console/dashboard-page.php", "$source/Laravel/config.php"]);
        $this->assertGreaterThan(40, count($all));
        $this->assertLessThanOrEqual(3_500, $lines(...$all));
        $this->assertLessThanOrEqual(150, $lines("$source/Dashboard/assets/script.js"));
        $this->assertLessThanOrEqual(300, $lines("$source/Dashboard/assets/style.css"));
    }

    public function testWhateverParametersAreAPageIsAnsweredAndBounded(): void
    {
        $queue = $this->delayQueue('q');
        $queue->pushMany((static function () {
            for ($n = 0; $n < 300; ++$n) {
                yield ['payload' => str_repeat('x', 1_000), 'delay' => '1h', 'id' => str_repeat('i', 190) . $n, 'group' => "g$n"];
            }
        })());
        $values = ['', '-1', '0', '1e9', '99999999999999999999', str_repeat('a', 100_000), "\xFF\0", "\u{202E}", '../../etc/passwd', ['array'], '%', '<b>'];
        $names = [
            'queue', 'state', 'after', 'from', 'range', 'name', 'look', 'tag', 'header', 'text', 'error', 'kind', 'id',
            'told', 'done', 'total', 'read', 'contains',
        ];
        $handler = new Handler($queue, static fn (): Access => Access::Write);
        $paths = ['/', '/queue', '/job', '/errors', '/groups', '/schedules', '/workers', '/health', '/journal'];
        foreach ($paths as $path) {
            foreach ($values as $value) {
                foreach ([['queue' => 'q', 'state' => 'delayed'], ['queue' => 'q'], []] as $rest) {
                    $page = $handler->handle(new Request('GET', $path, $rest + array_fill_keys($names, $value)));
                    $words = "$path: " . substr((string) json_encode($value, JSON_INVALID_UTF8_SUBSTITUTE), 0, 40);
                    $this->assertContains($page->status, [200, 400, 404], $words);
                    $this->assertLessThan(200_000, strlen($page->body), $words);
                }
            }
        }
    }

    private function seed(): void
    {
        for ($number = 0; $number < self::QUEUES; ++$number) {
            $this->delayQueue(sprintf('q%05d', $number))->push($number, delay: $number % 2 === 0 ? 0 : '1h');
        }
        $large = $this->delayQueue('q00000', ['maxAttempts' => 1]);
        $large->push(1, id: 'one', delay: '1h');
        $large->pushMany((static function () {
            for ($n = 0; $n < 10_000; ++$n) {
                yield ['payload' => ['n' => $n], 'delay' => $n < 8_800 ? 30 + $n : 0, 'group' => 'g' . $n % 80];
            }
        })());
        $large->drain(static fn () => throw new RuntimeException('no stock'), limit: 1_100);
    }

    /**
     * @param array<string, string> $query
     *
     * @return array{int, float} requests, and milliseconds of Redis' processor
     */
    private function cost(string $path, array $query): array
    {
        $handler = new Handler(new DelayQueue('default'), static fn (): Access => Access::Write);
        $before = $this->used();
        $this->assertSame(200, $handler->handle(new Request('GET', $path, $query))->status);
        $after = $this->used();

        // The second look at the numbers is a request as well.
        return [$after[0] - $before[0] - 1, $after[1] - $before[1]];
    }

    /** Milliseconds of Redis' processor. */
    private function costOfTwentyStats(): float
    {
        $queue = new DelayQueue('q00001');
        $before = $this->used();
        for ($call = 0; $call < 20; ++$call) {
            $queue->stats();
        }

        return $this->used()[1] - $before[1];
    }

    /** @return array{int, float} requests that Redis has read, and milliseconds of a processor that its main thread has used, until now */
    private function used(): array
    {
        preg_match('~^redis\+unix://(.+)\?~', (new DelayQueue('q'))->dsn(), $found);
        $redis = stream_socket_client('unix://' . rawurldecode($found[1]));
        fwrite($redis, "INFO all\r\n");
        $info = (string) stream_get_contents($redis, (int) substr((string) fgets($redis), 1));
        fclose($redis);
        preg_match('/^total_reads_processed:(\d+)/m', $info, $reads);
        preg_match_all('/^used_cpu_(?:sys|user)_main_thread:([\d.]+)/m', $info, $seconds);
        $this->assertCount(2, $seconds[1]);

        return [(int) $reads[1], 1000 * array_sum($seconds[1])];
    }
}
