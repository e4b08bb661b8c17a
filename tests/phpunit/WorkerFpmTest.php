<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DelayQueue;
use DelayQueue\State;
use DelayQueue\Tests\Support\Fpm;
use DelayQueue\Tests\Support\Machine;
use DelayQueue\Tests\Support\ProcessTestCase;
use DelayQueue\Tests\Support\Response;
use DelayQueue\Tests\Support\Wait;

/** consume() in requests of one php-fpm worker: however one ends, the next one is right, and nothing stays behind. */
final class WorkerFpmTest extends ProcessTestCase
{
    /** How a request ends, what it says, how often it is tried. */
    private const ENDS = [
        'plain' => ['stopped Empty', 20],
        'throw' => ['stopped Empty', 20],
        'exit' => ['left', 20],
        'fatal' => ['Fatal error: broken', 20],
        'memory' => ['Allowed memory size', 20],
        'listeners' => ['stopped Empty', 20],
        'listener exits' => ['left', 20],
        'listener throws' => ['A listener of Event::Succeeded threw LogicException: from a listener', 20],
        'destructor throws' => ['stopped Empty', 20],
        'destructor exits' => ['left', 20],
        'cycles' => ['stopped Empty', 20],
        'nested' => ['stopped Empty', 20],
        'fiber' => ['stopped Empty', 20],
        'suspended' => ['stopped', 20],
        'handler timeout' => ['stopped Empty', 20],
        'wait' => ['stopped MaxTime', 5],
        'time limit' => ['Maximum execution time of 1 second exceeded', 2],
        'endless destructor' => ['Maximum execution time of 1 second exceeded', 2],
        'anywhere' => ['Maximum execution time of 1 second exceeded', 3],
    ];

    private ?Fpm $fpm = null;

    private DelayQueue $queue;

    private int $requests = 0;

    protected function setUp(): void
    {
        parent::setUp();
        $this->queue = new DelayQueue('work', $this->redis->dsn(), ['readTimeout' => 10]);
    }

    protected function tearDown(): void
    {
        $this->fpm?->stop();
        parent::tearDown();
    }

    public function testHoweverARequestEndsTheNextOneIsRight(): void
    {
        $this->nextRequestsAreRight([]);
    }

    /** @group verify */
    #[\PHPUnit\Framework\Attributes\Group('verify')]
    public function testHoweverARequestEndsTheNextOneIsRightUnderTheJitCompiler(): void
    {
        $this->nextRequestsAreRight(['opcache.jit' => 'tracing', 'opcache.jit_buffer_size' => '32M']);
    }

    /** @param array<string, string> $settings of php-fpm, whose opcache is on */
    private function nextRequestsAreRight(array $settings): void
    {
        $this->fpm = new Fpm($this->redis->folder, [], $settings);
        $pid = $this->pid();
        foreach (self::ENDS as $do => [$says, $times]) {
            for ($n = 0; $n < $times; $n++) {
                $response = $this->get($do);
                $this->assertTrue($response->finished, "$do $n");
                $this->assertStringContainsString($says, $response->body, "$do $n");
                $this->assertSame('stopped Empty', $this->get('plain')->body, "after $do $n");
            }
            $this->assertSame(0, $this->queue->count(State::Reserved), "after $do no job waits for its lease");
            $this->queue->purge();
        }
        $this->assertSame($pid, $this->pid(), 'all in one worker');
        $this->assertCount(1, $this->redis->clients($pid), 'with one connection');
        Wait::until(static fn () => count(scandir("/proc/$pid/task")) === 3, 5, 'the threads of all loops have ended');
    }

    public function testARequestThatPhpFpmTerminatesEndsAtOnceAndItsJobComesBack(): void
    {
        $this->fpm = new Fpm($this->redis->folder, ['request_terminate_timeout' => '1s']);
        $pid = $this->pid();
        $started = microtime(true);
        $this->assertFalse($this->get('endless')->finished);
        $this->assertLessThan(10, Machine::lasted($started));
        $this->assertSame('stopped Empty', $this->get('plain')->body);
        $this->assertNotSame($pid, $this->pid(), 'another worker');
        $this->assertSame(2, $this->queue->reserve(15)?->attempts, 'it is not renewed any more');
    }

    public function testWhenPhpFpmFinishesTheLoopReturns(): void
    {
        $this->fpm = new Fpm($this->redis->folder);
        $this->pid();
        $request = $this->fpm->begin('worker.php', ['do' => 'long', 'dsn' => $this->redis->dsn(), 'n' => 'last']);
        Wait::until(fn () => $this->redis->waiters('work') === 1, 5, 'it waits');
        $this->fpm->finish();
        $response = $request->response();
        $this->assertTrue($response->finished);
        $this->assertSame('stopped Signal', $response->body);
    }

    private function get(string $do): Response
    {
        $this->requests++;

        return $this->fpm->begin('worker.php', ['do' => $do, 'dsn' => $this->redis->dsn(), 'n' => $this->requests])->response(120);
    }

    /** The worker's. */
    private function pid(): int
    {
        return (int) substr($this->get('pid')->body, strlen('pid '));
    }
}
