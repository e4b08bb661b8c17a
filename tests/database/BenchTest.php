<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database;

use DelayQueue\Tests\Database\Support\DatabaseServer;
use DelayQueue\Tests\Support\Folder;
use DelayQueue\Tests\Support\Process;
use PHPUnit\Framework\TestCase;

/**
 * The benchmark of the database side runs, in miniature. Its values are not judged.
 *
 * @group verify
 */
#[\PHPUnit\Framework\Attributes\Group('verify')]
final class BenchTest extends TestCase
{
    public function testTheOutboxIsMeasuredOnEachDatabase(): void
    {
        $folder = new Folder();
        $options = ['--quick', '--runs=1', '--scale=0.001', '--cases=outbox', '--peers=delayqueue', "--out=$folder->path/results"];
        $bench = new Process([PHP_BINARY, __DIR__ . '/../../bench/run.php', ...$options]);
        $said = $bench->rest(120);
        $this->assertSame(0, $bench->exitCode(), $said . $bench->errors());
        $results = json_decode((string) file_get_contents("$folder->path/results.json"), true, flags: JSON_THROW_ON_ERROR);
        $folder->remove();

        $this->assertSame([], $results['tables']['outbox']['failures']);
        $rows = array_keys($results['tables']['outbox']['rows']);
        $figures = array_column($results['figures'], 'measured', 'figure');
        foreach (DatabaseServer::names() as $database) {
            $this->assertCount(14, preg_grep("/^$database: /", $rows));
            $this->assertGreaterThanOrEqual(6, count(preg_grep("/^$database: /", array_keys($figures))));
        }
        $this->assertNotContains('not measured', $figures);
    }
}
