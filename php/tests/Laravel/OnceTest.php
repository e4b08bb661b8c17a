<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel;

use DelayQueue\Laravel\Job;
use DelayQueue\Tests\Laravel\Support\OnceDeed;
use DelayQueue\Tests\Laravel\Support\OutboxTestCase;
use DelayQueue\Tests\Laravel\Support\TestTransaction;
use Illuminate\Foundation\Testing\DatabaseTransactions;
use LogicException;
use PHPUnit\Framework\Attributes\DataProvider;
use RuntimeException;

/** The middleware by which a job's writes are written once. */
final class OnceTest extends OutboxTestCase
{
    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testAJobThatIsDeliveredAgainWritesNothing(string $database): void
    {
        $this->bootOutbox($database);
        OnceDeed::dispatch('tea');
        $this->runUnacknowledged();
        $this->travel(61);
        $this->runNext();
        $this->assertSame([['tea'], 0], [$this->orders(), $this->queue()->size()]);
        OnceDeed::dispatch('tea');
        $this->runNext();
        $this->assertSame(['tea', 'tea'], $this->orders());
    }

    public function testAJobThatThrowsOrGivesItselfBackWritesAtItsLastRun(): void
    {
        $this->bootOutbox();
        OnceDeed::dispatch('throws', 0, 'throw once');
        try {
            $this->runNext();
            $this->fail('no exception');
        } catch (RuntimeException $error) {
            $this->assertSame('throws went wrong', $error->getMessage());
        }
        $this->travel(61);
        $this->runNext();
        OnceDeed::dispatch('released', 0, 'release');
        $this->runNext();
        $this->assertSame(['throws'], $this->orders());
        $this->runNext();
        $this->assertSame([['throws', 'released'], 0], [$this->orders(), $this->queue()->size()]);
    }

    public function testAJobThatFailsKeepsItsWritesAndMayBeRetried(): void
    {
        $this->bootOutbox();
        OnceDeed::dispatch('fails', 0, 'fail');
        $body = $this->runNext()->getRawBody();
        $this->assertSame([['fails'], 0], [$this->orders(), $this->queue()->size()]);
        $this->queue()->pushRaw($body);
        $this->runNext();
        $this->assertSame(['fails', 'fails'], $this->orders());
    }

    public function testJobsOfTheHandlerArriveWithItsWrites(): void
    {
        $this->bootOutbox();
        OnceDeed::$inside = function (): void {
            $this->queue()->push('next');
            $this->assertSame([1, 1], [$this->rows(), $this->queue()->size()]);
        };
        OnceDeed::dispatch('tea');
        $this->runUnacknowledged();
        $this->assertSame(1, $this->queue()->pendingSize());
    }

    public function testOnOtherConnectionsTheJobRunsAsEver(): void
    {
        $this->bootOutbox();
        OnceDeed::dispatchSync('now');
        OnceDeed::dispatch('sync')->onConnection('sync');
        $this->assertSame(['now', 'sync'], $this->orders());
        $this->assertSame([], $this->shop()->select('select * from delayqueue_jobs'));
    }

    public function testAJobThatDoesNotKnowItselfIsRefused(): void
    {
        $this->bootOutbox();
        $this->expectException(LogicException::class);
        $this->expectExceptionMessage('InteractsWithQueue');
        (new \DelayQueue\Laravel\Middleware\Once())->handle(new class () {
        }, static fn () => null);
    }

    public function testItWorksInsideTheTransactionOfATestWhereLaravelTellsItApart(): void
    {
        $this->bootOutbox();
        OnceDeed::dispatch('tea');
        $test = TestTransaction::begin($this->app, DatabaseTransactions::class);
        if (!$this->callsBackInTests()) {
            $this->expectException(LogicException::class);
        }
        try {
            $this->runNext();
            $this->assertSame(['tea'], $this->orders());
        } finally {
            $test->end();
        }
    }

    protected function tearDown(): void
    {
        OnceDeed::$inside = null;
        parent::tearDown();
    }

    private function runNext(): Job
    {
        $job = $this->queue()->pop();
        $this->assertInstanceOf(Job::class, $job);
        $job->fire();

        return $job;
    }

    /** As if the process died between the commit and the acknowledgement. */
    private function runUnacknowledged(): void
    {
        $this->queue()->job($this->queue()->native()->reserve(), acknowledgesLater: true)->fire();
    }

    /** @return list<string> */
    private function orders(): array
    {
        return array_column($this->shop()->select('select name from orders'), 'name');
    }
}
