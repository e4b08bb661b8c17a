<?php

declare(strict_types=1);

namespace DelayQueue\Tests\CommandLine;

use DelayQueue;
use DelayQueue\Backoff;
use DelayQueue\State;
use DelayQueue\Tests\Support\CliTestCase;
use DelayQueue\Tests\Support\Wait;

/** Sealed payloads on the command line: keys files, resealing while workers run, dumps with and without keys. */
final class CliSealTest extends CliTestCase
{
    private const SECRET = 'SECRET-4711';

    public function testAKeysFileIsForItsUserAlone(): void
    {
        $file = $this->keysFile('2030', '2029');
        $push = ['push', '"' . self::SECRET . '"', '--id=a', '--header=tenant: ' . self::SECRET, "--keys-file=$file"];
        foreach ([0o644, 0o640, 0o604, 0o620] as $mode) {
            chmod($file, $mode);
            $this->assertStringContainsString('chmod 600', $this->cliExpecting(2, ...$push));
        }
        chmod($file, 0o400);
        $this->cliExpecting(0, ...$push);
        $this->assertSame(self::SECRET, $this->sealing('2030')->peek('a')->payload);
        $this->assertSame(['2030', self::SECRET], [$this->queue()->peek('a')->seal['key'], $this->sealing('2030')->peek('a')->headers['tenant']]);

        $environment = ['DELAYQUEUE_KEYS_FILE' => $file];
        $shown = $this->finish($this->startWith($environment, 'show', 'a'))->output;
        $this->assertStringContainsString(self::SECRET, $shown);
        $this->assertStringContainsString('with key 2030', $shown);
        $shown = $this->cliExpecting(0, 'show', 'a');
        $this->assertStringNotContainsString(self::SECRET, $shown);
        $this->assertStringContainsString('this queue object has no keys', $shown);
        $this->assertStringContainsString('sealed with key', $this->cliExpecting(0, 'list', 'ready'));
        $this->cliExpecting(0, 'push', '1', '--id=signed', '--signed', "--keys-file=$file");
        $this->assertSame('hmac-sha256', $this->queue()->peek('signed')->seal['alg']);
        $this->assertStringContainsString('needs keys', $this->cliExpecting(2, 'push', '1', '--signed'));
    }

    public function testALineOfAKeysFileThatIsNoKeyIsNamedByItsNumber(): void
    {
        $key = base64_encode(self::key('k1'));
        foreach (["k1 $key\nk1 $key" => 'line 2', "\n# a\n$key" => 'line 3', "k1 x$key" => 'line 1', 'k1' => 'line 1', "a b $key" => 'line 1', '# nothing' => 'no key'] as $text => $words) {
            $errors = $this->cliExpecting(2, 'stats', '--keys-file=' . $this->write('keys', $text));
            $this->assertStringContainsString($words, $errors);
            $this->assertStringNotContainsString(substr($key, 0, 20), $errors);
        }
        foreach (['/nonexistent', 'php://stdin', 'http://127.0.0.1:1/keys'] as $path) {
            $this->assertStringContainsString('cannot read', $this->cliExpecting(2, 'stats', "--keys-file=$path"));
        }
        $this->cliExpecting(0, 'stats', '--keys-file=' . $this->write('keys', "# a comment\n\n  k1\t base64:$key  \r\nk2 " . base64_encode(self::key('k2'))));
    }

    public function testResealingMovesAllThatWaitsAndTellsOfTheRest(): void
    {
        $old = $this->sealing('2029');
        $old->pushMany(array_map(static fn (int $n): array => ['payload' => self::SECRET, 'delay' => $n % 2 * 3600, 'headers' => ['n' => "$n"]], range(1, 450)));
        $old->push('held', id: 'held');
        $held = $old->reserveJob('held');
        $old->push('buried', id: 'buried', delay: 60);
        $old->reserveJob('buried')->bury('why');
        $this->queue()->push(self::SECRET, id: 'plain', delay: 60);
        $this->sealing('lost')->push(self::SECRET, id: 'lost', delay: 60);
        $before = $this->facts($this->sealing('2030', '2029'));

        $reseal = ['reseal', $this->queueName, '--keys-file=' . $this->keysFile('2030', '2029')];
        $result = $this->cli(...$reseal, ...['--sealed-only']);
        $this->assertSame([1, "451 sealed with key 2030 now, 0 not changed, 1 held by workers with another key or none, 2 not opened\n"], [$result->exitCode, $result->output]);
        $this->assertStringContainsString("job 'plain' of queue", $result->errors);
        $this->assertStringContainsString("'lost'", $result->errors);
        $result = $this->cli(...$reseal);
        $this->assertSame([1, "1 sealed with key 2030 now, 451 not changed, 1 held by workers with another key or none, 1 not opened\n"], [$result->exitCode, $result->output]);
        $this->assertStringContainsString("'lost'", $result->errors);
        $this->sealing('2030')->cancel('lost');
        $held->release();
        $again = $this->cliExpecting(0, ...$reseal);
        $this->assertSame("1 sealed with key 2030 now, 452 not changed, 0 held by workers with another key or none, 0 not opened\n", $again);
        $after = $this->facts($this->sealing('2030'));
        unset($before['held'], $before['lost'], $after['held']);
        $before['plain'] = ['payload' => self::SECRET] + $before['plain'];
        ksort($before);
        ksort($after);
        $this->assertEquals($before, $after);
        $this->assertStringContainsString('needs keys', $this->cliExpecting(2, 'reseal', $this->queueName));
    }

    /** Two processes reseal while workers take jobs and a producer adds and changes some. */
    public function testTwoProcessesMayResealWhileWorkersRun(): void
    {
        $old = $this->sealing('2029');
        $ids = array_map(static fn (int $n): string => "job-$n", range(1, 400));
        $old->pushMany(array_map(static fn (string $id): array => ['payload' => 'quick', 'id' => $id], $ids));
        $old->push('quick', id: 'changed', delay: 3600);
        $environment = ['DELAYQUEUE_KEYS_FILE' => $this->keysFile('2030', '2029')];
        $this->sealing('2029')->pause();
        $processes = [
            $this->startWith($environment, 'reseal', $this->queueName),
            $this->startWith($environment, 'work', '-q', self::HANDLER, '--processes=2', '--prefetch=5'),
            $this->startWith($environment, 'reseal', $this->queueName),
        ];
        $this->sealing('2029')->resume();
        for ($n = 1; $n <= 200; $n++) {
            $this->assertTrue($this->sealing('2030', '2029')->update('changed', "quick $n"));
            $old->push('quick', id: $ids[] = "late-$n");
        }
        Wait::until(fn (): bool => count($this->done()) >= count($ids), 60, 'all jobs are handled');
        posix_kill($processes[1]->pid, SIGTERM);
        foreach ($processes as $process) {
            $result = $this->finish($process);
            $this->assertSame(0, $result->exitCode, $result->output . $result->errors);
        }
        $done = $this->done();
        sort($done);
        sort($ids);
        $this->assertSame($ids, $done, 'each of them once');
        $this->assertSame(0, $old->count(State::Buried));
        $this->cliExpecting(0, 'reseal', $this->queueName, '--keys-file=' . $this->keysFile('2030', '2029'));
        $this->assertSame('quick 200', $this->sealing('2030')->peek('changed')->payload);
    }

    public function testADumpWithoutKeysPutsSealedJobsBackAsTheyWere(): void
    {
        foreach ([false, true] as $signed) {
            $queue = $this->sealed(['2030'], $signed);
            $queue->push(self::SECRET, id: 'ready', headers: ['tenant' => 'acme']);
            $queue->push(self::SECRET, id: 'delayed', delay: 3600, priority: 5, ttr: 7);
            $queue->push(self::SECRET, id: 'tried', delay: 60, headers: ['tenant' => 'acme']);
            $queue->push(self::SECRET, id: 'failed', delay: 60, backoff: Backoff::fixed('1h'));
            $queue->push(self::SECRET, id: 'buried', headers: ['tenant' => 'acme']);
            $queue->reserveJob('tried')->release(3600);
            $queue->reserveJob('tried')->release(3600);
            $queue->reserveJob('failed')->fail('once');
            $queue->reserveJob('buried')->bury('why');
            $before = $this->facts($queue);
            $dump = $this->write('dump', $text = $this->cliExpecting(0, 'dump'));
            $this->assertSame($signed, str_contains($text, self::SECRET));
            $this->assertStringContainsString('"seal":{"alg"', $text);
            $queue->purge();
            // Keys change nothing about it.
            $keys = $signed ? ['--keys-file=' . $this->keysFile('2031')] : [];
            $this->assertStringStartsWith("5 loaded, 0 kept\n", $this->cliExpecting(0, 'load', $dump, "--queue=$this->queueName", ...$keys));
            $this->assertStringStartsWith("0 loaded, 0 kept, 5 known from before\n", $this->cliExpecting(0, 'load', $dump));
            $this->assertEquals($before, $this->facts($queue));
            foreach (['ready', 'delayed', 'tried', 'failed', 'buried'] as $id) {
                $job = $queue->reserveJob($id);
                $this->assertSame([self::SECRET, $before[$id]['headers']], [$job?->payload, $job?->headers]);
                $job->ack();
            }
            $this->assertStringContainsString('--open', $this->cliExpecting(1, 'load', $dump, '--queue=other'));
            $this->assertSame(0, (new DelayQueue('other', $this->redis->dsn()))->count());
        }
    }

    public function testADumpThatWasOpenedGoesIntoAnyQueue(): void
    {
        $this->sealing('2030')->push(self::SECRET, id: 'a', delay: 60, headers: ['tenant' => 'acme']);
        $this->assertStringContainsString('needs keys', $this->cliExpecting(2, 'dump', '--open'));
        $keys = '--keys-file=' . $this->keysFile('2030');
        $this->assertStringNotContainsString(self::SECRET, $this->cliExpecting(0, 'dump', $keys), 'keys alone open nothing');
        $dump = $this->write('dump', $this->cliExpecting(0, 'dump', '--open', $keys));
        $this->assertStringContainsString(self::SECRET, (string) file_get_contents($dump));
        $this->cliExpecting(0, 'load', $dump, '--queue=plain');
        $this->cliExpecting(0, 'load', $dump, '--queue=sealed', '--keys-file=' . $this->keysFile('2031'));
        $plain = (new DelayQueue('plain', $this->redis->dsn()))->peek('a');
        $this->assertSame([null, self::SECRET, ['tenant' => 'acme']], [$plain->seal, $plain->payload, $plain->headers]);
        $sealed = (new DelayQueue('sealed', $this->redis->dsn(), ['keys' => ['2031' => self::key('2031')]]))->peek('a');
        $this->assertSame(['2031', self::SECRET, ['tenant' => 'acme']], [$sealed->seal['key'], $sealed->payload, $sealed->headers]);
    }

    public function testADumpWithAWrongSealIsRefused(): void
    {
        $this->sealing('2030')->push(1, id: 'a', delay: 60);
        $line = json_decode((string) strtok($this->cliExpecting(0, 'dump'), "\n"), true, flags: JSON_THROW_ON_ERROR);
        foreach (['x', [], ['alg' => 'a', 'key' => 'k'], ['alg' => 'a', 'key' => 'k', 'tag' => 1], ['alg' => 'a', 'key' => 'k', 'tag' => '', 'more' => '']] as $seal) {
            $dump = $this->write('dump', json_encode(['seal' => $seal] + $line, JSON_THROW_ON_ERROR));
            $this->assertStringContainsString('"seal"', $this->cliExpecting(1, 'load', $dump));
        }
    }

    /** @return array<string, array<string, mixed>> what resealing and moving must leave alone, by id */
    private function facts(DelayQueue $queue): array
    {
        $facts = [];
        foreach (State::cases() as $state) {
            foreach ($queue->list($state, 0, 1000) as $job) {
                $facts[$job->id] = array_diff_key(
                    ['backoff' => (string) $job->backoff, 'firstDueAt' => $job->firstDueAt ?? $job->dueAt] + get_object_vars($job),
                    array_fill_keys(['body', 'seal', 'sealError'], true),
                );
            }
        }
        ksort($facts);

        return $facts;
    }

    private function sealing(string ...$ids): DelayQueue
    {
        return $this->sealed($ids, false);
    }

    /** @param list<string> $ids */
    private function sealed(array $ids, bool $signed): DelayQueue
    {
        return $this->queue(['keys' => array_combine($ids, array_map(self::key(...), $ids)), 'signed' => $signed]);
    }

    private function keysFile(string ...$ids): string
    {
        return $this->write('keys-' . implode('-', $ids), implode('', array_map(static fn (string $id): string => "$id " . base64_encode(self::key($id)) . "\n", $ids)));
    }

    /** Each id has its own key. */
    private static function key(string $id): string
    {
        return hash('sha256', $id, true);
    }

    private function write(string $name, string $text): string
    {
        $file = "{$this->redis->folder->path}/$name";
        @unlink($file);
        file_put_contents($file, $text);
        chmod($file, 0o600);

        return $file;
    }
}
