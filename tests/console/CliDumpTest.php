<?php

declare(strict_types=1);

namespace DelayQueue\Tests\CommandLine;

use DelayQueue;
use DelayQueue\Backoff;
use DelayQueue\State;
use DelayQueue\Tests\Support\CliTestCase;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\RedisServer;

/** delayqueue dump and load: what was in one queue is in another. */
final class CliDumpTest extends CliTestCase
{
    public function testAQueueThatIsLoadedEqualsTheOneThatWasDumped(): void
    {
        $this->fill();
        $dump = $this->dump('all.ndjson');
        $this->load('306 loaded, 0 kept', $dump, '--queue=other');
        $other = $this->dump('other.ndjson', '--queue=other');

        $expected = self::jobs($dump);
        $this->assertSame(base64_encode("\xff\0"), $expected['bytes']['payloadBase64']);
        $this->assertEquals(['tenant' => 'acme', '0' => 'zero', 'umlaut' => "\u{FC}"], $expected['failed']['headers']);
        $this->assertArrayNotHasKey('headers', $expected['bytes']);
        // As if its lease had run out.
        $expected['held'] = ['state' => 'ready', 'lastError' => 'lease expired', 'leaseUntil' => null, 'timeouts' => 1] + $expected['held'];
        $found = self::jobs($other);
        ksort($expected);
        ksort($found);
        $this->assertEquals($expected, $found);
        $this->assertSame(self::ids($dump, 'ready'), array_values(array_diff(self::ids($other, 'ready'), ['held'])), 'in the same order');
        $this->assertSame(self::ids($dump, 'delayed'), self::ids($other, 'delayed'));
    }

    public function testLoadingTwiceChangesNothingMore(): void
    {
        $this->fill();
        $dump = $this->dump('all.ndjson');
        $this->load('306 loaded, 0 kept', $dump, '--queue=other');
        $other = new DelayQueue('other', $this->redis->dsn());
        $other->cancel('failed');
        $facts = static fn (string $file): string => preg_replace('/,"dump":"\w+"/', '', (string) file_get_contents($file));
        $once = $facts($this->dump('once.ndjson', '--queue=other'));
        $this->load('0 loaded, 0 kept, 306 known from before', $dump, '--queue=other');
        $this->assertSame($once, $facts($this->dump('twice.ndjson', '--queue=other')));
        $this->load('0 loaded, 306 kept', $dump);
        $said = $this->load('0 loaded, 0 kept, 306 known from before', $dump, '--queue=other');
        $this->assertStringContainsString("\nNo line of this dump is loaded again, even when its job is done or deleted. To allow it: ", $said);
        preg_match('/: delayqueue (forget-receipts .*)$/m', $said, $command);
        $this->assertSame("306 forgotten\n", $this->cliExpecting(0, ...[...explode(' ', $command[1]), '--force']));
        $this->load('1 loaded, 305 kept', $dump, '--queue=other');
        $this->assertSame("0 loaded, 0 kept\n", $this->cliExpecting(0, 'load', '/dev/null'));
    }

    public function testLoadWarnsWhereLinesOfADumpAreMissing(): void
    {
        $this->queue()->pushMany(array_fill(0, 5, ['payload' => 1]));
        (new DelayQueue('other', $this->redis->dsn()))->push(2);
        $whole = $this->dump('whole.ndjson', '--all');
        $lines = file($whole);
        $this->assertMatchesRegularExpression('/^{"end":true,"lines":6,"dump":"\w+"}$/', $lines[6]);
        preg_match('/"dump":"(\w+)"/', $lines[6], $found);
        $end = "the last line of dump $found[1] is missing";
        $other = (string) file_get_contents($this->dump('other.ndjson', '--queue=other'));
        $inputs = [
            'whole' => [implode($lines), null],
            'another order' => [implode(array_reverse($lines)), null],
            'twice' => [implode($lines) . implode($lines), null],
            'two dumps' => [$other . implode($lines), null],
            'cut behind the first queue' => [implode(array_slice($lines, 0, 5)), $end],
            'cut before the last line' => [implode(array_slice($lines, 0, 6)), $end],
            'two dumps, one cut' => [implode(array_slice($lines, 0, 6)) . $other, $end],
            'a line away' => [implode(array_slice($lines, 1)), "dump $found[1] had 6 lines, and 5 of them are here"],
            'empty' => ['', 'it is empty'],
            'lines of somebody else' => [str_replace(",\"dump\":\"$found[1]\"", '', $lines[0]), null],
        ];
        foreach ($inputs as $name => [$input, $warning]) {
            $result = $this->cli('load', $this->file('input.ndjson', $input));
            $this->assertSame(0, $result->exitCode, $name . $result->errors);
            $warning === null
                ? $this->assertSame('', $result->errors, $name)
                : $this->assertStringContainsString(
                    "delayqueue: warning: {$this->file('input.ndjson')} may not be whole: $warning",
                    $result->errors,
                    $name,
                );
        }
    }

    public function testProgressIsOnStandardErrorOfATerminalAlone(): void
    {
        $this->queue()->pushMany(array_fill(0, 500, ['payload' => 1]));
        $file = "{$this->redis->folder->path}/all.ndjson";
        $binary = PHP_BINARY . ' ' . realpath(self::BINARY);
        $onTerminal = function (string $command) use ($binary): string {
            $environment = ['TERM' => 'xterm', 'NO_COLOR' => '1'] + $this->environment();
            $process = new Process(['script', '-qec', strtr($command, ['delayqueue' => $binary]), '/dev/null'], $environment);

            return $this->finish($process)->output;
        };
        $gone = "\e[1G\e[2K";
        $dumping = $onTerminal("delayqueue dump --all > $file");
        $this->assertMatchesRegularExpression('/ \[=+>?-*\] +\d+%, .* left/', $dumping);
        $this->assertStringEndsWith($gone, $dumping, 'it leaves no trace');
        $this->assertDoesNotMatchRegularExpression('/\e\[[\d;]*m/', $dumping, 'no colours');
        $this->assertCount(501, file($file), 'with the end');
        $this->assertStringStartsWith('{"', $onTerminal('delayqueue dump'), 'not between the lines of a dump');
        $this->assertSame('', $onTerminal("delayqueue dump -q > $file.quiet"));

        $loading = $onTerminal("delayqueue load $file --queue=other");
        $this->assertMatchesRegularExpression('/ \[=+>?-*\] +\d+%, .* left/', $loading);
        $this->assertStringContainsString("{$gone}500 loaded, 0 kept", $loading);
        $this->assertMatchesRegularExpression('/\d+ lines/', $onTerminal("cat $file | delayqueue load --queue=third"));

        $result = $this->cli('load', $file, '--queue=fourth');
        $this->assertSame('', $result->errors, 'no terminal');
    }

    public function testTwoLoadsAtOnceLoadEachLineOnce(): void
    {
        $this->fill();
        $dump = $this->dump('all.ndjson');
        $loads = [$this->start('load', $dump, '--queue=other'), $this->start('load', $dump, '--queue=other')];
        $said = implode(array_map(fn ($load): string => $this->finish($load)->output, $loads));
        preg_match_all('/^(\d+) loaded/m', $said, $loaded);
        $this->assertSame([2, 306], [count($loaded[1]), array_sum($loaded[1])]);
        $this->assertCount(306, new DelayQueue('other', $this->redis->dsn()));
    }

    public function testAllQueuesGoToAnotherRedisThroughAPipe(): void
    {
        foreach (['one', 'two'] as $name) {
            (new DelayQueue($name, $this->redis->dsn()))->push($name, delay: 60, id: "in-$name", backoff: Backoff::linear('1h', '10ms'), timeout: 5);
        }
        $dump = $this->dump('all.ndjson', '--all');
        $second = new RedisServer();
        try {
            $load = $this->start('load', '-', "--dsn={$second->dsn()}");
            foreach (file($dump, FILE_IGNORE_NEW_LINES) as $line) {
                $load->say($line);
            }
            $this->assertStringStartsWith("2 loaded, 0 kept\n", $this->finish($load)->output);
            $one = new DelayQueue('one', $second->dsn());
            $this->assertSame(['one', 'two'], [$one->peek('in-one')?->payload, (new DelayQueue('two', $second->dsn()))->peek('in-two')?->payload]);
            $this->assertSame(['linear 1h 10ms', 5.0], [(string) $one->peek('in-one')->backoff, $one->peek('in-one')->timeout]);
        } finally {
            $second->remove();
        }
    }

    public function testALineThatIsNoJobIsNamed(): void
    {
        $this->queue()->push(1, id: 'a', delay: 60);
        $dump = $this->dump('a.ndjson');
        $good = (string) strtok((string) file_get_contents($dump), "\n");
        $this->queue()->purge();
        $with = static fn (string $json): string => json_encode(array_replace(json_decode($good, true), ['id' => 'b'], json_decode($json, true)));
        $lines = [
            '{' => 'not JSON', '5' => 'not an object', '{"queue":"x","id":"b","attempts":0}' => '"payload"',
            $with('{"attempts": -1}') => '"attempts"', $with('{"attempts": 1.5}') => '"attempts"', $with('{"maxAttempts": "1"}') => '"maxAttempts"',
            str_replace('"ttr":60.0', '"ttr":1e999', $good) => '"ttr"', $with('{"ttr": 1e9}') => 'ttr must', $with('{"priority": 4294967296}') => 'priority must',
            $with('{"dueAt": 1e300}') => 'not a moment', $with('{"dueAt": 1e12}') => '100 years', $with('{"attempts": 2, "dueAt": 17000000000}') => '100 years', $with('{"backoff": "never"}') => '"backoff"',
            $with('{"headers": {"a": 1}}') => '"headers"', $with('{"headers": "a"}') => '"headers"',
            $with('{"headers": {"a b": "c"}}') => 'headers', $with('{"queue": "a b"}') => 'queue', $with('{"id": ""}') => 'id must',
        ];
        foreach ($lines as $line => $words) {
            file_put_contents($dump, "$good\n\n$line\n");
            $errors = $this->cliExpecting(1, 'load', $dump);
            $this->assertStringContainsString('line 3 ', $errors);
            $this->assertStringContainsString($words, $errors);
            $this->assertSame(1, substr_count($errors, "\n"));
        }
        $this->assertSame(['a'], array_column($this->queue()->list(State::Delayed), 'id'));
        $this->assertSame([$this->queueName], $this->queue()->queues());
    }

    public function testAnyNumberOfAttemptsIsRestored(): void
    {
        $this->queue()->push(1, id: 'a', delay: 60, maxAttempts: 0);
        $dump = $this->dump('a.ndjson');
        file_put_contents($dump, str_replace('"attempts":0', '"attempts":1000000000', (string) file_get_contents($dump)));
        $this->load('1 loaded, 0 kept', $dump, '--queue=other');
        $this->assertSame(1_000_000_000, (new DelayQueue('other', $this->redis->dsn()))->peek('a')?->attempts);
    }

    public function testReceiptsAndTakenIdsAreLinesOfADump(): void
    {
        $queue = $this->queue();
        $queue->pushOnce([['receipt' => 'outbox/1', 'payload' => 1, 'id' => 'a', 'delay' => 60], ['receipt' => "\xFF", 'payload' => 1, 'id' => 'b', 'delay' => 61]]);
        $queue->push(1, 62, 'taken', unique: '1h');
        $dump = $this->dump('all.ndjson');
        $lines = array_map(static fn (string $line): array => array_diff_key(json_decode($line, true), ['queue' => 1, 'dump' => 1]), file($dump));
        $this->assertSame(['a', 'b', 'taken'], array_column($lines, 'id'));
        $this->assertSame([['receipt' => 'outbox/1'], ['receiptBase64' => '/w==']], array_slice($lines, 3, 2));
        $this->assertSame(['takenId' => 'taken', 'until' => $queue->takenIds()[0]['until']], $lines[5]);
        $this->load('6 loaded, 0 kept', $dump, '--queue=other');
        $this->load('0 loaded, 0 kept, 6 known from before', $dump, '--queue=other');
        $other = new DelayQueue('other', $this->redis->dsn());
        $this->assertSame(['taken'], array_column($other->takenIds(), 'id'));
        $this->assertSame(1, $other->pushOnce([['receipt' => 'outbox/1', 'payload' => 1]])->known);
        foreach (['{"queue":"x","receipt":5}' => '"receipt"', '{"queue":"x","takenId":"a"}' => '"until"', '{"queue":"x","receipt":"a\nb"}' => 'receipt must'] as $line => $words) {
            file_put_contents($dump, $line);
            $this->assertStringContainsString($words, $this->cliExpecting(1, 'load', $dump));
        }
    }

    public function testABuriedJobThatWasLoadedIsKeptWhateverAnotherDumpSaysOfIt(): void
    {
        $queue = $this->queue();
        $queue->push(1, id: 'a');
        $queue->reserveJob('a')->bury('first');
        $dump = $this->dump('a.ndjson');
        $this->load('1 loaded, 0 kept', $dump, '--queue=other');
        file_put_contents($dump, str_replace('first', 'second', (string) file_get_contents($dump)));
        $this->load('0 loaded, 0 kept, 1 known from before', $dump, '--queue=other');
        $this->assertSame('first', (new DelayQueue('other', $this->redis->dsn()))->peek('a')?->lastError);
    }

    public function testAPayloadAsLargeAsItsQueueAllowedIsLoaded(): void
    {
        $this->queue(['maxPayload' => 2 << 20])->push(str_repeat('x', 3 << 19), id: 'large', delay: 60);
        $this->load('1 loaded, 0 kept', $this->dump('large.ndjson'), '--queue=other');
    }

    /** Jobs in every state, with every property, and more of them than a page has. */
    private function fill(): void
    {
        $queue = $this->queue();
        $queue->pushMany(array_map(static fn (int $n): array => ['payload' => $n, 'id' => "delayed-$n", 'delay' => 3600 + $n / 1000], range(1, 150)));
        $queue->pushMany(array_map(static fn (int $n): array => ['payload' => $n, 'id' => "ready-$n", 'priority' => 1000 + $n % 3], range(1, 150)));
        $this->queue(['format' => 'raw'])->push("\xff\0", id: 'bytes', delay: 60);
        $queue->push(['x' => 1.5], delay: '90d', id: 'special', priority: 7, ttr: '90s', maxAttempts: 0);
        foreach (['buried', 'released', 'failed', 'held'] as $id) {
            $queue->push(1, id: $id, ttr: 600, headers: ['tenant' => 'acme', '0' => 'zero', 'umlaut' => "\u{FC}"]);
        }
        foreach ([1, 2] as $attempt) {
            $queue->reserveJob('buried')->release(1000);
            $queue->reserveJob('released')->release(1000);
            $queue->reserveJob('failed')->fail("not at attempt $attempt");
        }
        $queue->reserveJob('buried')->bury('Some\Error: no');
        $queue->reschedule('failed', 2000);
        // Held for as long as this process has the object, and longer.
        $queue->reserveJob('held');
    }

    /** @return string the file with the dump */
    private function dump(string $file, string ...$options): string
    {
        $file = "{$this->redis->folder->path}/$file";
        file_put_contents($file, $this->cliExpecting(0, 'dump', ...$options));

        return $file;
    }

    /** @return string what the command says, with this line first */
    private function load(string $closing, string ...$arguments): string
    {
        $said = $this->cliExpecting(0, 'load', ...$arguments);
        $this->assertStringStartsWith("$closing\n", $said);

        return $said;
    }

    /** @return array<string, array<string, mixed>> by id */
    private static function jobs(string $file): array
    {
        $jobs = [];
        foreach (file($file) as $line) {
            $job = json_decode($line, true, flags: JSON_THROW_ON_ERROR);
            if (isset($job['end'])) {
                continue;
            }
            $jobs[$job['id']] = array_diff_key($job, ['queue' => true, 'dump' => true]);
        }

        return $jobs;
    }

    /** @return list<string> */
    private static function ids(string $file, string $state): array
    {
        return array_keys(array_filter(self::jobs($file), static fn (array $job): bool => $job['state'] === $state));
    }
}
