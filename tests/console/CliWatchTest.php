<?php

declare(strict_types=1);

namespace DelayQueue\Tests\CommandLine;

use DelayQueue;
use DelayQueue\Http\Signature;
use DelayQueue\Tests\Http\Receiver;
use DelayQueue\Tests\Support\CliTestCase;
use DelayQueue\Tests\Support\Process;

require_once __DIR__ . '/../../php/tests/Http/Receiver.php';

/** delayqueue watch: posts what has changed, until the receiver has accepted it. */
final class CliWatchTest extends CliTestCase
{
    private Receiver $receiver;

    protected function setUp(): void
    {
        parent::setUp();
        $this->receiver = new Receiver();
    }

    public function testAQueueIsPostedWhenItPassesALimitAndWhenItIsWellAgain(): void
    {
        $queue = new DelayQueue('orders', $this->redis->dsn());
        $queue->push(1, id: 'a');
        $watch = $this->watch(['DELAYQUEUE_ALERT_SECRET' => 'secret'], '--warn-max-buried=0', '--max-buried=1');
        $this->assertSame("alerts go to http://127.0.0.1:{$this->receiver->port}", $watch->line(), 'without path and token');
        $queue->reserve()?->bury();
        [$post, $headers, $body] = $this->post();
        $this->assertSame(['WARNING: orders: 1 buried (limit 0)', 'warning'], [$post['text'], $post['level']]);
        $this->assertSame([['queue' => 'orders', 'from' => 'ok', 'to' => 'warning']], $post['changes']);
        $this->assertSame([gethostname(), 'dq', 1], [$post['host'], $post['prefix'], count($post['findings'])]);
        $this->assertSame('max-buried', $post['findings'][0]['check']);
        $this->assertTrue(Signature::verify($headers['delayqueue-signature'], $headers['delayqueue-job'], $body, 'secret'));
        $this->assertStringEndsWith(' WARNING: orders: 1 buried (limit 0)', $watch->line());

        $queue->push(2);
        $queue->reserve()?->bury();
        $this->assertSame([['queue' => 'orders', 'from' => 'warning', 'to' => 'critical']], $this->post()[0]['changes']);
        $queue->purge();
        [$post] = $this->post();
        $this->assertSame(['OK: 1 queue, 0 buried', 'ok', []], [$post['text'], $post['level'], $post['findings']]);
        $this->assertSame([['queue' => 'orders', 'from' => 'critical', 'to' => 'ok']], $post['changes']);
        $watch->signal(SIGTERM);
        $this->assertSame(0, $watch->exitCode(20));
        $this->assertSame(3, $this->receiver->connections(), 'nothing else was posted');
    }

    public function testAPostWhoseAnswerIsLostIsTakenBackWhenTheQueueIsWell(): void
    {
        $queue = new DelayQueue('orders', $this->redis->dsn());
        $queue->push(1);
        $queue->reserve()?->bury();
        // The receiver tells its chat, and its answer does not say so.
        $this->receiver->answer([500, [], 'lost'], [200]);
        $watch = $this->watch([], '--max-buried=0', '--every=1s');
        [$alert, $alertHeaders] = $this->post();
        $queue->purge();
        [$post, $headers] = $this->post();
        $this->assertSame(['CRITICAL: orders: 1 buried (limit 0)', 'OK: 1 queue, 0 buried'], [$alert['text'], $post['text']]);
        $this->assertSame([['queue' => 'orders', 'from' => 'critical', 'to' => 'ok']], $post['changes']);
        $this->assertNotSame($alertHeaders['delayqueue-job'], $headers['delayqueue-job'], 'it is no repeat');
    }

    public function testAPostThatIsNotAcceptedIsRepeated(): void
    {
        $queue = new DelayQueue('orders', $this->redis->dsn());
        $queue->push(1);
        $queue->reserve()?->bury();
        $this->receiver->answer([500, [], 'not now'], [200]);
        $watch = $this->watch([], '--max-buried=0');
        [$first, $second] = [$this->post(), $this->post()];
        $this->assertSame($first[0]['changes'], $second[0]['changes']);
        $this->assertSame($first[1]['delayqueue-job'], $second[1]['delayqueue-job'], 'the receiver can know it');
        $this->assertSame(['1', '2'], [$first[1]['delayqueue-attempt'], $second[1]['delayqueue-attempt']]);
        $this->heard($watch, '/CRITICAL: orders: 1 buried \(limit 0\); the alert is not delivered: http:\S+ answered 500: not now/');
        $this->assertStringNotContainsString('token', $watch->errors());
    }

    public function testARedisThatIsAwayIsAChangeAndSaysNothingOfItsQueues(): void
    {
        $queue = new DelayQueue('orders', $this->redis->dsn());
        $queue->push(1);
        $queue->reserve()?->bury();
        $this->watch([], '--max-buried=0');
        $this->post();
        $this->redis->kill();
        [$post] = $this->post();
        $this->assertStringStartsWith('CRITICAL: Redis cannot be reached: ', $post['text']);
        $this->assertSame([['queue' => null, 'from' => 'ok', 'to' => 'critical']], $post['changes']);
    }

    public function testWrongUsageEndsItAtTheStart(): void
    {
        $url = "--alert-url={$this->url()}";
        $mistakes = [
            ['--max-buried=0'], ['--max-buried=0', '--alert-url=ftp://x/'], [$url], ['--max-buried=0', $url, 'mistyped'], ['--max-buried=0', $url, '--every=0'],
        ];
        foreach ($mistakes as $mistake) {
            $this->cliExpecting(2, 'watch', ...$mistake);
        }
        $this->assertSame(0, $this->receiver->connections());
    }

    /** @param array<string, string> $environment */
    private function watch(array $environment, string ...$arguments): Process
    {
        return $this->startWith($environment + ['DELAYQUEUE_ALERT_URL' => $this->url()], 'watch', '--every=50ms', ...$arguments);
    }

    private function url(): string
    {
        return "http://127.0.0.1:{$this->receiver->port}/hook?token=4711";
    }

    /** @return array{array<string, mixed>, array<string, string>, string} the next post, its headers, and its bytes */
    private function post(): array
    {
        ['path' => $path, 'headers' => $headers, 'body' => $body] = $this->receiver->request();
        $this->assertSame(['/hook?token=4711', 'application/json'], [$path, $headers['content-type']]);

        return [json_decode($body, true, flags: JSON_THROW_ON_ERROR), $headers, $body];
    }
}
