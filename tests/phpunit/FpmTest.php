<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DelayQueue;
use DelayQueue\State;
use DelayQueue\Tests\Support\FastCgi;
use DelayQueue\Tests\Support\Fpm;
use DelayQueue\Tests\Support\ProcessTestCase;
use DelayQueue\Tests\Support\Relay;
use DelayQueue\Tests\Support\Response;
use DelayQueue\Tests\Support\Wait;

/** Requests of one php-fpm worker, one after the other: what one leaves behind is what the next one finds. */
final class FpmTest extends ProcessTestCase
{
    private ?Fpm $fpm = null;

    private DelayQueue $queue;

    private int $requests = 0;

    protected function setUp(): void
    {
        parent::setUp();
        $this->queue = new DelayQueue('page', $this->redis->dsn());
    }

    protected function tearDown(): void
    {
        $this->fpm?->stop();
        parent::tearDown();
    }

    public function testManyRequestsShareOneConnection(): void
    {
        $this->start();
        $this->assertTrue($this->answer('opcache'));
        $this->assertSame('first', $this->answer('push', 'first'));
        $clients = $this->redis->clients($this->pid());
        $this->assertCount(1, $clients);
        $opened = $this->redis->info('stats')['total_connections_received'];
        for ($n = 0; $n < 200; $n++) {
            $this->assertGoodRequest();
        }
        $this->assertSame($clients, $this->redis->clients($this->pid()), 'the same connection');
        $this->assertSame($opened, $this->redis->info('stats')['total_connections_received'], 'none was opened in between');
        $this->assertSame(1, $this->queue->count());
        $this->assertStringNotContainsString('PHP', $this->messages());
    }

    public function testAPrivateConnectionEndsWithItsRequest(): void
    {
        $this->start();
        $this->assertSame('a', $this->answer('private connection', 'a'));
        Wait::until(fn () => $this->redis->clients($this->pid()) === [], 10, 'the private connection is closed');
        $this->answer('push', 'b');
        $shared = $this->redis->clients($this->pid());
        $this->assertCount(1, $shared);
        $this->answer('private connection', 'c');
        Wait::until(fn () => $this->redis->clients($this->pid()) === $shared, 10, 'only the shared one is left');
    }

    public function testAJobThatAnEndedRequestHeldStaysReserved(): void
    {
        $this->start();
        $this->assertSame(1, $this->answer('leave a job reserved', 'kept'));
        $this->assertSame(State::Reserved, $this->queue->peek('kept')->state);
        $this->assertGoodRequest();
    }

    public function testAJobThatARequestHeldWhenItCalledExitHasFailed(): void
    {
        $this->start();
        foreach (['a', 'b'] as $id) {
            $this->get('exit with a job in hand', $id);
            $job = Wait::until(function () use ($id): ?\DelayQueue\JobInfo {
                $job = $this->queue->peek($id);

                return $job?->state === State::Delayed ? $job : null;
            }, 5, 'the job has failed');
            $this->assertSame([1, 'the script called exit() with status 0'], [$job->attempts, $job->lastError]);
        }
        $this->queue->purge();
        $this->assertGoodRequest();
    }

    public function testThePoolsFileGivesTheSettings(): void
    {
        $this->start(pool: ['clear_env' => 'yes', 'env[DELAYQUEUE_DSN]' => 'redis://pool:6379/1', 'env[DELAYQUEUE_PREFIX]' => 'shop']);
        $this->assertSame(['redis://pool:6379/1', 'shop'], $this->answer('settings'));
    }

    /** As SECURITY.md says: the setting guards against mistakes, and php_admin_value against code. */
    public function testCodeMaySetTestingUnlessThePoolFixesIt(): void
    {
        $this->start();
        $this->assertSame(['0', true], $this->answer('set testing'));
        $this->fpm->stop();
        $this->start(pool: ['php_admin_value[delayqueue.testing]' => '0']);
        $this->assertSame([false, false], $this->answer('set testing'));
    }

    /** Requests that the next process of the pool runs would not find the jobs: memory is for tests. */
    public function testAQueueInMemoryIsThatOfOneProcessAndForTestsOnly(): void
    {
        $this->start();
        $refused = $this->get('push', 'a', 'memory://')->body;
        $this->assertStringContainsString('needs the ini setting delayqueue.testing=1', $refused);
        $this->fpm->stop();
        $this->start(pool: ['php_admin_value[delayqueue.testing]' => '1']);
        $this->answer('push', 'kept', 'memory://');
        for ($n = 0; $n < 5; $n++) {
            $this->assertGoodRequest('memory://');
        }
        $this->assertSame(1, $this->answer('count', dsn: 'memory://'));
        $this->assertSame([], $this->redis->clients($pid = $this->pid()));
        posix_kill($pid, SIGKILL);
        Wait::until(fn () => !file_exists("/proc/$pid"), 10, 'php-fpm has seen the end of its process');
        $this->assertSame(0, $this->answer('count', dsn: 'memory://'));
        $this->assertGoodRequest('memory://');
    }

    public function testAJobIsKeptAliveForAsLongAsTheRequestLasts(): void
    {
        $this->start();
        for ($n = 0; $n < 2; $n++) {
            $this->assertSame([2, false, 0], $this->answer('keep a job alive', "kept-$n"));
            Wait::until(fn () => $this->queue->count(State::Ready) === 1, 5, 'it comes back');
            Wait::until(fn () => count(scandir("/proc/{$this->pid()}/task")) - 2 === 1, 5, 'the thread is gone');
            $this->queue->purge();
        }
        $this->assertGoodRequest();
    }

    /** @dataProvider ends */
    #[\PHPUnit\Framework\Attributes\DataProvider('ends')]
    public function testTheNextRequestIsRight(string $do, string $says): void
    {
        $this->start();
        $this->assertGoodRequest();
        $pid = $this->pid();
        for ($n = 0; $n < 3; $n++) {
            $response = $this->get($do, "bad-$n");
            $this->assertTrue($response->finished);
            $this->assertStringContainsString($says, $response->body);
            $this->assertGoodRequest();
            $this->assertGoodRequest();
        }
        $this->assertSame($pid, $this->pid(), 'the worker lives');
        $this->assertCount(1, $this->redis->clients($pid), 'and has one connection');
        foreach (State::cases() as $state) {
            foreach ($this->queue->list($state, 0, 10_000) as $job) {
                $this->assertStringStartsWith('bad-', $job->id, 'jobs of good requests are done');
            }
        }
    }

    /** @return array<string, array{string, string}> */
    public static function ends(): array
    {
        return [
            'exit() in the middle of pushMany()' => ['exit in a generator', 'left'],
            'exit() with a job in hand' => ['exit with a job in hand', 'left'],
            'out of memory in the middle of pushMany()' => ['memory', 'Allowed memory size'],
            'out of memory in the middle of push()' => ['memory in json', 'Allowed memory size'],
            'an exception that nobody catches' => ['uncaught', 'DuplicateJobException'],
        ];
    }

    public function testATimeLimitInTheMiddleOfRoundTripsDoesNotMixUpReplies(): void
    {
        $this->start();
        $this->assertGoodRequest();
        // The limit is a second of processor time, which a busy machine gives in its own time.
        $response = $this->begin('time limit', 'bad')->response(300);
        $this->assertTrue($response->finished);
        $this->assertStringContainsString('Maximum execution time', $response->body);
        for ($n = 0; $n < 20; $n++) {
            $this->assertGoodRequest();
        }
        $this->assertLessThanOrEqual(1, $this->queue->count(), 'at most the job that was in hand');
    }

    public function testARequestKilledWhileItsPushIsOnTheWayLeavesAllOrNothing(): void
    {
        $relay = new Relay($this->redis);
        $this->start();
        $this->answer('push', 'warm', $relay->dsn());
        $pid = $this->pid();
        foreach (['Requests' => null, 'Replies' => 'killed-Replies'] as $held => $stored) {
            $relay->{"hold$held"}();
            $request = $this->begin('push', "killed-$held", $relay->dsn());
            $relay->untilHolding();
            posix_kill($pid, SIGKILL);
            $this->assertFalse($request->response()->finished);
            $relay->cut();
            $this->assertSame($stored, $this->queue->peek("killed-$held")?->id);
            $this->answer('push', "after-$held", $relay->dsn());
            $this->assertNotSame($pid, $this->pid(), 'php-fpm started another worker');
            $pid = $this->pid();
            for ($n = 0; $n < 5; $n++) {
                $this->assertGoodRequest($relay->dsn());
            }
        }
        $this->assertSame(4, $this->queue->count());
        $relay->stop();
    }

    public function testARequestThatPhpFpmTerminatesWhileItWaitsTakesNothingWithIt(): void
    {
        $this->start(['request_terminate_timeout' => '1s']);
        $this->assertGoodRequest();
        $pid = $this->pid();
        $response = $this->get('wait');
        $this->assertFalse($response->finished);
        $this->assertStringContainsString("child $pid, script", $this->fpm->log());
        $this->queue->push('later', id: 'later');
        $this->assertGoodRequest();
        $this->assertNotSame($pid, $this->pid());
        $this->assertSame('later', $this->queue->reserve()?->id, 'the request that was terminated has not taken it');
    }

    public function testARedisThatRestartsBetweenRequestsIsNotNoticed(): void
    {
        $this->start();
        for ($n = 0; $n < 3; $n++) {
            $this->assertGoodRequest();
            $this->redis->kill();
            $this->redis->start();
        }
        $this->assertGoodRequest();
    }

    /** @param array<string, string> $pool settings */
    private function start(array $pool = []): void
    {
        $this->fpm = new Fpm($this->redis->folder, $pool);
    }

    private function begin(string $do, ?string $id = null, ?string $dsn = null): FastCgi
    {
        $query = ['do' => $do, 'dsn' => $dsn ?? $this->redis->dsn(), 'id' => $id];

        return $this->fpm->begin('page.php', array_filter($query, static fn ($value) => $value !== null));
    }

    private function get(string $do, ?string $id = null, ?string $dsn = null): Response
    {
        return $this->begin($do, $id, $dsn)->response();
    }

    /** The result of a page that has nothing to say but that. */
    private function answer(string $do, ?string $id = null, ?string $dsn = null): mixed
    {
        $response = $this->get($do, $id, $dsn);
        $this->assertTrue($response->finished);
        $this->assertSame('', $response->errors);
        $this->assertStringContainsString('application/json', $response->headers, $response->body);
        $answer = json_decode($response->body, true);
        $this->assertSame(['pid', 'result'], array_keys((array) $answer), $response->body);

        return $answer['result'];
    }

    /** Pushes, looks, reserves and acknowledges: and every reply is the right one. */
    private function assertGoodRequest(?string $dsn = null): void
    {
        $id = 'good-' . ++$this->requests;
        $this->assertSame([['of' => $id], ['of' => $id], null], $this->answer('round trip', $id, $dsn));
    }

    /** The worker's. */
    private function pid(): int
    {
        return json_decode($this->get('opcache')->body, true)['pid'];
    }

    private function messages(): string
    {
        return @file_get_contents($this->redis->folder->path . '/php.log') . $this->fpm->log();
    }
}
