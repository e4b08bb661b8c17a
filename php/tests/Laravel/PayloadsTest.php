<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel;

use DelayQueue\Laravel\Failing\UnreadablePayload;
use DelayQueue\State;
use DelayQueue\Tests\Laravel\Support\Deed;
use DelayQueue\Tests\Laravel\Support\EncryptedDeed;
use DelayQueue\Tests\Laravel\Support\LaravelTestCase;
use Illuminate\Encryption\Encrypter;
use Illuminate\Queue\Jobs\InspectedJob;
use Illuminate\Support\Str;

/** Payloads that are none of Laravel's, or cannot be run. */
final class PayloadsTest extends LaravelTestCase
{
    private const COMMANDS = ['queue:work', 'delayqueue:work'];

    /** @dataProvider payloads */
    #[\PHPUnit\Framework\Attributes\DataProvider('payloads')]
    public function testAPayloadThatCannotBeReadFailsOnceAndIsRecordedAsItIs(string $body): void
    {
        foreach (self::COMMANDS as $command) {
            $id = $this->queue()->native()->push($body);
            Deed::dispatch("after $id");
            $this->workWithoutWarnings($command, tries: 3);
            $rows = $this->app['db']->table('failed_jobs')->get(['uuid', 'payload', 'exception'])->all();
            $this->assertSame([$body], array_column($rows, 'payload'), $command);
            $uuid = json_decode($body, true)['uuid'] ?? null;
            $this->assertSame(is_string($uuid) ? $uuid : $id, $rows[0]->uuid);
            $error = UnreadablePayload::class . ": Cannot run job '$id' of queue 'default': ";
            $this->assertStringStartsWith($error, $rows[0]->exception);
            $this->assertSame([1, 0], [$this->lines("/^end after $id 1 /"), $this->queue()->size()], $command);
            $this->assertSame(1, $this->queue()->stats()->failed, "$command: failed runs");
            $this->app['db']->table('failed_jobs')->delete();
            $this->delayQueue()->forget();
        }
    }

    public function testAPayloadThatCannotBeReadIsCountedAndLookedAtLikeOthers(): void
    {
        $id = $this->queue()->native()->push('"x"');
        $this->assertSame([1, 1], [$this->queue()->size(), $this->queue()->pendingSize()]);
        $this->assertEqualsWithDelta(time(), $this->queue()->creationTimeOfOldestPendingJob(), 60);
        if (class_exists(InspectedJob::class)) {
            $this->assertSame([$id], $this->queue()->pendingJobs()->pluck('uuid')->all());
        }
    }

    public function testAJobThatCannotBeMadeOfItsPayloadFailsLikeOneThatThrows(): void
    {
        $good = json_decode($this->bodyOf(new Deed('never')), true);
        $bodies = [];
        foreach (['Gone', 'not serialized', 'O:9:"Gone\\Class":0:{}', 'O:1', ''] as $command) {
            $bodies[] = ['uuid' => Str::uuid()->toString(), 'data' => ['command' => $command] + $good['data']] + $good;
        }
        $bodies[] = ['uuid' => Str::uuid()->toString(), 'job' => 'Gone\\Class@handle', 'data' => 'text'] + $good;
        $bodies[] = ['uuid' => Str::uuid()->toString(), 'displayName' => 'x', 'job' => 'Gone', 'data' => null];
        $key = $this->app['encrypter'];
        $this->app->instance('encrypter', new Encrypter(random_bytes(32), 'AES-256-CBC'));
        $this->app->forgetInstance('queue');
        $bodies[] = json_decode($this->bodyOf(new EncryptedDeed('never')), true);
        $this->app->instance('encrypter', $key);
        $uuids = array_column($bodies, 'uuid');
        sort($uuids);
        foreach (self::COMMANDS as $command) {
            foreach ($bodies as $body) {
                $this->queue()->pushRaw(json_encode(['maxTries' => null] + $body));
            }
            Deed::dispatch('after');
            $this->workWithoutWarnings($command);
            $recorded = $this->app['db']->table('failed_jobs')->pluck('uuid')->sort()->values()->all();
            $this->assertSame([$uuids, 0], [$recorded, $this->queue()->size()], $command);
            $this->app['db']->table('failed_jobs')->delete();
        }
        $this->assertSame([2, 0], [$this->lines('/^end after/'), $this->lines('/^begin never/')]);
    }

    public function testAJobWithoutAUuidRunsAndIsRecordedUnderItsId(): void
    {
        $members = json_decode($this->bodyOf(new Deed('old', 0, 'throw')), true);
        $body = json_encode(array_diff_key($members, ['uuid' => 1]));
        foreach (self::COMMANDS as $times => $command) {
            $id = $this->queue()->native()->push($body);
            $this->workUntilEmpty($command);
            $this->assertSame($times + 1, $this->lines('/^failed old old went wrong/'));
            $row = $this->app['db']->table('failed_jobs')->where('uuid', $id)->first();
            $this->assertSame($body, $row?->payload);
        }
    }

    public function testAJobThatIsSealedWithAKeyThatIsNotThereDoesNotStopAWorker(): void
    {
        foreach (self::COMMANDS as $command) {
            $sealing = ['keys' => ['k1' => str_repeat('k', 32)], 'format' => 'raw'];
            $id = $this->delayQueue('default', $sealing)->push('{}');
            Deed::dispatch('after');
            $this->workUntilEmpty($command);
            $this->assertSame(State::Buried, $this->queue()->find($id)?->state, $command);
        }
        $this->assertSame(2, $this->lines('/^end after/'));
    }

    /** @return iterable<string, array{string}> */
    public static function payloads(): iterable
    {
        $bodies = ['"x"', '12', 'true', 'null', '[]', '{}', '[1]', 'garbage', '', "\xff\x00", str_repeat('[', 600)];
        foreach ($bodies as $body) {
            yield "the bytes $body" => [$body];
        }
        $good = [
            'uuid' => 'c0ffee00-0000-4000-8000-000000000000',
            'job' => 'Illuminate\Queue\CallQueuedHandler@call',
            'data' => ['command' => 'O:1'],
        ];
        $wrong = [
            'job' => 12, 'data' => 'x', 'uuid' => [], 'maxTries' => 'a', 'timeout' => [], 'backoff' => [1],
            'displayName' => [1],
        ];
        foreach ($wrong as $name => $value) {
            yield "a wrong $name" => [json_encode([$name => $value] + $good)];
        }
        foreach (['job', 'data'] as $name) {
            yield "no $name" => [json_encode(array_diff_key($good, [$name => 1]))];
        }
        yield 'no command' => [json_encode(['data' => ['command' => 12]] + $good)];
    }

    /** Laravel unserializes what is not serialized, and PHP warns. */
    private function workWithoutWarnings(string $command, int $tries = 1): void
    {
        set_error_handler(static fn (): bool => true, E_WARNING | E_NOTICE);
        try {
            $this->workUntilEmpty($command, $tries);
        } finally {
            restore_error_handler();
        }
    }
}
