<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Faults;

use DelayQueue\Backoff;
use DelayQueue\Dump\JobLine;
use DelayQueue\Dump\LineException;
use DelayQueue\Dump\Load;
use DelayQueue\State;
use DelayQueue\Tests\Faults\Support\FaultTestCase;
use DelayQueue\Tests\Faults\Support\Single;

/**
 * The command line's load reads lines that somebody has damaged: each is loaded or refused by name. FUZZ_SECONDS=600 does so for longer.
 *
 * @group quick
 */
final class LoadFuzzTest extends FaultTestCase
{
    private const PIECES = ['"', '{', '}', '[', ']', ':', ',', 'null', '-', '1e999', '0.5', '99999999999999999999', '\\u0000', '\\ud800', "\xff", '"a":', '[[[[', 'true'];

    private const VALUES = [
        null, true, false, -1, 0, 1, 1.5, 4294967296, PHP_INT_MAX, PHP_INT_MIN, 1e300, 5e-324, '', ' ', 'x', "\u{0}", "a\nb", '1', [], [[]], ['a' => 1],
        ['a' => 'b'], ['' => ''], 'ready', 'buried', 'reserved', 'delayed', 'exponential 5s 2 1h 0.1', 'stages', '5s 1m', 3_155_760_001.5,
    ];

    public function testADamagedLineIsLoadedOrRefusedByName(): void
    {
        $this->setup = new Single([]);
        $queue = $this->queue(['format' => 'raw', 'maxPayload' => 512 << 20]);
        $again = $queue->sibling('again');
        $load = new Load($this->setup->dsn());
        $seeds = $this->seeds();
        mt_srand($seed = random_int(0, PHP_INT_MAX));
        [$loaded, $refused] = [0, 0];
        for ($until = microtime(true) + (float) (getenv('FUZZ_SECONDS') ?: 3); microtime(true) < $until;) {
            $line = $this->damaged($seeds[array_rand($seeds)]);
            $shown = "seed $seed, line " . json_encode($line, JSON_INVALID_UTF8_SUBSTITUTE);
            try {
                $answers = iterator_to_array($load->lines([$line], $queue->name()), false);
            } catch (LineException $e) {
                $refused++;
                $this->assertSame(0, $queue->count(), "refused, and there: {$e->getMessage()}: $shown");
                continue;
            } catch (\Throwable $e) {
                $this->fail($e::class . " {$e->getMessage()}: $shown");
            }
            if (trim($line) === '') {
                continue;
            }
            $loaded++;
            $this->assertSame([true], $answers, $shown);
            $stored = array_merge(...array_map($queue->list(...), State::cases()))[0];
            $fields = json_decode($line, true);
            $payload = $fields['payload'] ?? base64_decode($fields['payloadBase64']);
            $this->assertSame([$payload, $fields['attempts'], $fields['priority']], [$stored->body, $stored->attempts, $stored->priority], $shown);
            $written = JobLine::write($stored, 'dump');
            $this->assertSame([true], iterator_to_array($load->lines([$written], 'again'), false), $shown);
            $same = JobLine::write($again->peek($stored->id), 'dump');
            $this->assertSame(str_replace("\"queue\":\"{$queue->name()}\"", '"queue":"again"', $written), $same, "dumped and loaded again: $shown");
            foreach ([$queue, $again] as $one) {
                $one->purge();
                $one->forgetReceipts(...$one->receipts());
            }
        }
        $this->assertGreaterThan(20, $loaded);
        $this->assertGreaterThan(100, $refused);
        $this->assertSame('ok', array_column($queue->doctor(), 'level', 'check')['jobs']);
    }

    /** @return list<string> lines of dumps, with jobs in all states */
    private function seeds(): array
    {
        $queue = $this->queue(['format' => 'raw']);
        $jobs = [
            $queue->push('plain', '1h'),
            $queue->push("bytes \xff\0", '1h', id: "id \xc3\xa9", priority: 5, ttr: '2m', headers: ['tenant' => 'acme', '7' => '']),
            $queue->push('many options', maxAttempts: 3, backoff: Backoff::stages('1s 2s'), timeout: '5s'),
            $queue->push('failed', backoff: Backoff::fixed('1h')),
            $queue->push('buried'),
            $queue->push('held'),
        ];
        $queue->reserveJob($jobs[3])->fail('why');
        $queue->reserveJob($jobs[4])->bury('because');
        $queue->reserveJob($jobs[5]);
        $lines = array_map(static fn (string $id) => JobLine::write($queue->peek($id), 'dump'), $jobs);
        $queue->cancel(...$jobs);

        return $lines;
    }

    private function damaged(string $line): string
    {
        for ($times = mt_rand(0, 3); $times > 0; $times--) {
            $at = mt_rand(0, strlen($line));
            $fields = json_decode($line, true);
            if (is_array($fields) && $fields !== [] && mt_rand(0, 2) > 0) {
                $name = array_rand($fields);
                mt_rand(0, 5) === 0 ? array_splice($fields, 0, 1) : $fields[$name] = self::VALUES[mt_rand(0, count(self::VALUES) - 1)];
                $line = json_encode($fields, JSON_PRESERVE_ZERO_FRACTION | JSON_PARTIAL_OUTPUT_ON_ERROR);
            } else {
                $line = match (mt_rand(0, 3)) {
                    0 => substr($line, 0, $at),
                    1 => substr_replace($line, chr(mt_rand(0, 255)), $at, mt_rand(0, 2)),
                    2 => substr_replace($line, self::PIECES[mt_rand(0, count(self::PIECES) - 1)], $at, 0),
                    3 => substr($line, 0, $at) . str_repeat(substr($line, $at, 5), mt_rand(0, 100)) . substr($line, $at),
                };
            }
        }

        return $line;
    }
}
