<?php

declare(strict_types=1);

namespace DelayQueue\Tests;

use DelayQueue\Backoff;
use DelayQueue\Internal\GivenJob;
use DelayQueue\InvalidArgument;
use DelayQueue\NewJob;
use DelayQueue\OnDuplicate;
use DelayQueue\OnExpiry;
use PHPUnit\Framework\TestCase;

final class GivenJobTest extends TestCase
{
    private const JOB = [
        'payload' => null, 'delay' => 1, 'id' => 'a', 'priority' => 0, 'ttr' => 2.5, 'maxAttempts' => 0, 'timeout' => 3, 'onDuplicate' => OnDuplicate::Replace,
        'headers' => ['7' => 'x'], 'unique' => 4, 'maxWait' => 5, 'expires' => 6, 'onExpiry' => OnExpiry::Drop, 'group' => 'g',
    ];

    public function testANewJobAndItsArrayAreReadAlike(): void
    {
        $job = new NewJob(...self::JOB);
        $this->assertEquals(self::JOB, GivenJob::read($job, 'it'));
        $this->assertSame(GivenJob::read($job, 'it'), GivenJob::read(array_reverse((array) $job, true), 'it'));
        $this->assertSame(['payload' => null], GivenJob::read(new NewJob(null), 'it'));
    }

    public function testItsOptionsSurviveJson(): void
    {
        $options = array_diff_key(self::JOB, ['payload' => 1]) + ['backoff' => Backoff::stages('1s 2s'), 'retryUntil' => 7];
        $stored = (array) json_decode(json_encode(GivenJob::toJson($options), JSON_PRESERVE_ZERO_FRACTION));
        $this->assertEquals($options, GivenJob::fromJson($stored));
        $this->assertSame([], GivenJob::toJson([]));
    }

    public function testAnErrorOfTheExtensionKeepsItsParts(): void
    {
        try {
            new NewJob(1, ttr: 0);
            $this->fail('it is refused');
        } catch (InvalidArgument $error) {
            $wrong = GivenJob::wrong($error, 'Batch::add(): Argument #1 ($jobs) item 3');
            $this->assertInstanceOf(InvalidArgument::class, $wrong);
            $this->assertSame('Batch::add(): Argument #1 ($jobs) item 3: "ttr" must be between 0.1 seconds and 30 days', $wrong->getMessage());
            $this->assertSame(['jobs', 'ttr', 'must be between 0.1 seconds and 30 days'], [$wrong->parameter, $wrong->key, $wrong->reason]);
        }
    }
}
