<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel\Support;

use DelayQueue\State;
use DelayQueue\Tests\Support\Wait;

/** Jobs of a worker that is killed, under either command. */
trait KilledWorkerTests
{
    public function testAKilledWorkerCostsATryOnlyOfTheJobThatRan(): void
    {
        $this->boot(['retry_after' => 1]);
        $jobs = [
            'poison' => ['kill', 1], 'stumbles' => ['kill once', 3], 'next' => ['return', 1], 'last' => ['return', 3],
        ];
        foreach ($jobs as $name => [$end, $tries]) {
            $job = new KillingDeed($name, 0, $end);
            $job->tries = $tries;
            dispatch($job);
        }
        foreach (['poison', 'stumbles'] as $death) {
            $worker = $this->start(...static::WORK);
            $this->awaitLine("/^begin $death 1/");
            Wait::until(static fn (): bool => !$worker->isRunning(), 20, "the death of the worker by $death");
        }
        $this->start(...static::WORK);
        Wait::until(fn (): bool => $this->queue()->size() === 0, 20, 'an empty queue');
        preg_match_all('/^begin (\w+ \d) /m', implode("\n", Journal::lines()), $found);
        $begun = $found[1];
        sort($begun);
        $this->assertSame(['last 1', 'next 1', 'poison 1', 'stumbles 1', 'stumbles 2'], $begun);
        $this->assertSame(['poison'], $this->failedNames());
    }

    public function testAFailedMethodThatKillsItsWorkerLosesNoJob(): void
    {
        $this->boot(['retry_after' => 1]);
        foreach (['kills in failed()', 'kills after its record'] as $name) {
            $job = new KillingDeed($name, 0, 'throw');
            $job->tries = 1;
            $id = $this->queue()->push($job);
            $worker = $this->start(...static::WORK);
            $this->awaitLine('/^failed ' . preg_quote($name) . '/');
            Wait::until(static fn (): bool => !$worker->isRunning(), 20, 'the death of the worker');
            $this->assertNotNull($this->queue()->find($id), "$name: it is not acknowledged");
        }
        $this->assertContains('kills after its record', $this->failedNames());
        $this->start(...static::WORK);
        Wait::until(fn (): bool => $this->queue()->size() === 0, 20, 'an empty queue');
        $failed = $this->failedNames();
        sort($failed);
        $this->assertSame(['kills after its record', 'kills in failed()'], $failed, 'each once');
        $this->assertSame(2, $this->lines('/^begin/'), 'neither runs again');
        foreach ($this->app['db']->table('failed_jobs')->pluck('exception') as $exception) {
            $this->assertStringStartsWith('RuntimeException: kills', $exception);
        }
    }

    public function testAJobThatExceedsItsTimeAndCannotBeRecordedIsRecordedLater(): void
    {
        $job = new Deed('endless', 30);
        $job->timeout = 1;
        $job->tries = 1;
        $id = $this->queue()->push($job);
        $schema = $this->app['db']->connection()->getSchemaBuilder();
        $schema->rename('failed_jobs', 'away');
        $this->start(...static::WORK);
        Wait::until(
            fn (): bool => $this->queue()->find($id)?->state === State::Delayed,
            20,
            'the next try to record it',
        );
        $schema->rename('away', 'failed_jobs');
        $this->queue()->reschedule($id, 0);
        $this->start(...static::WORK);
        Wait::until(fn (): bool => $this->queue()->size() === 0, 20, 'an empty queue');
        $this->assertSame(['endless'], $this->failedNames());
        $this->assertSame([1, 1], [$this->lines('/^begin endless/'), $this->lines('/^failed endless/')]);
    }

    /** @return list<string> the names of the deeds in failed_jobs */
    private function failedNames(): array
    {
        $payloads = $this->app['db']->table('failed_jobs')->orderBy('id')->pluck('payload')->all();

        $command = static fn (string $payload): Deed => unserialize(json_decode($payload, true)['data']['command']);

        return array_map(static fn (string $payload): string => $command($payload)->name, $payloads);
    }
}
