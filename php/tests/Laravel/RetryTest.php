<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel;

use DelayQueue\ConnectionException;
use DelayQueue\Laravel\Facades\DelayQueue;
use DelayQueue\OnDuplicate;
use DelayQueue\Tests\Laravel\Support\Deed;
use DelayQueue\Tests\Laravel\Support\OutboxTestCase;
use DelayQueue\Tests\Laravel\Support\UniqueDeed;
use PHPUnit\Framework\Attributes\DataProvider;
use RuntimeException;

/** queue:retry of jobs with ids of their own: nothing leaves the failed jobs unless it is in the queue. */
final class RetryTest extends OutboxTestCase
{
    /** @return iterable<string, array{bool, OnDuplicate}> */
    public static function connections(): iterable
    {
        foreach (OnDuplicate::cases() as $onDuplicate) {
            yield "$onDuplicate->value" => [false, $onDuplicate];
            yield "$onDuplicate->value with an outbox" => [true, $onDuplicate];
        }
    }

    /** @dataProvider connections */
    #[DataProvider('connections')]
    public function testAFailedJobWhoseIdIsTakenStaysAndTheOthersAreRetried(bool $hasOutbox, OnDuplicate $rule): void
    {
        $hasOutbox && $this->bootOutbox();
        $ids = ['a', 'b', 'c'];
        foreach ($ids as $id) {
            $this->fails((new Deed($id))->identifiedBy($id, $rule));
        }
        $taken = $this->failed()[1];
        Deed::dispatch('newer')->delay(3600)->identifiedBy($taken);
        $output = $this->artisan('queue:retry', ['id' => ['all']], 1);
        $uuid = $this->app['db']->table('failed_jobs')->value('uuid');
        $this->assertMatchesRegularExpression("/$uuid\] stays in the list of failed jobs: .*'$taken'/", $output);
        $this->assertSame([$taken], $this->failed());
        $this->assertSame('newer', $this->nameOf($taken));
        foreach (array_diff($ids, [$taken]) as $id) {
            $this->assertSame($id, $this->nameOf($id));
        }
        DelayQueue::cancel($taken);
        $this->artisan('queue:retry', ['id' => [$uuid]]);
        $this->assertSame([], $this->failed());
        $this->assertSame($taken, $this->nameOf($taken));
    }

    public function testARetryThatIsRefusedReleasesNoLock(): void
    {
        $this->fails((new UniqueDeed('unique'))->identifiedBy('id'));
        UniqueDeed::dispatch('unique')->delay(3600)->identifiedBy('id');
        $this->artisan('queue:retry', ['id' => ['all']], 1);
        UniqueDeed::dispatch('unique')->identifiedBy('other');
        $this->assertNull(DelayQueue::find('other'));
    }

    public function testAFailedJobThatCannotBeReadStaysAndTheOthersAreRetried(): void
    {
        $this->fails(new Deed('one'));
        $this->fails(new Deed('two'));
        $first = $this->app['db']->table('failed_jobs')->orderByDesc('id')->first();
        $payload = json_decode($first->payload, true);
        $payload['data']['command'] = 'nothing that could be restored';
        $this->app['db']->table('failed_jobs')->where('id', $first->id)->update(['payload' => json_encode($payload)]);
        $output = $this->artisan('queue:retry', ['id' => ['all']], 1);
        $this->assertStringContainsString('stays in the list of failed jobs', $output);
        $this->assertSame([1, 1], [$this->app['db']->table('failed_jobs')->count(), $this->queue()->pendingSize()]);
    }

    public function testNothingLeavesTheFailedJobsWhileRedisIsAway(): void
    {
        $this->bootOutbox();
        $this->fails((new Deed('one'))->identifiedBy('one'));
        $this->bootWithoutRedis();
        try {
            $this->artisan('queue:retry', ['id' => ['all']]);
            $this->fail('no exception');
        } catch (ConnectionException) {
        }
        $this->assertSame([['one'], 0], [$this->failed(), $this->rows()]);
    }

    private function fails(Deed $job): void
    {
        $id = $this->queue()->push($job);
        $run = $this->queue()->pop();
        $this->assertSame($id, $run->getJobId());
        $failure = new RuntimeException('bad');
        $run->fail($failure);
        $this->app['queue.failer']->log('delayqueue', 'default', $run->getRawBody(), $failure);
    }

    /** @return list<string> the ids of the failed jobs, as queue:retry has them */
    private function failed(): array
    {
        $id = static fn (object $row): string => json_decode($row->payload, true)['delayqueue']['id'] ?? '';

        return array_map($id, $this->app['queue.failer']->all());
    }

    private function nameOf(string $id): string
    {
        return unserialize(json_decode(DelayQueue::find($id)->body, true)['data']['command'])->name;
    }
}
