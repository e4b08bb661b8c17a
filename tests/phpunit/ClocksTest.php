<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DelayQueue;
use DelayQueue\Testing;
use DelayQueue\Testing\JobAssertions;
use DelayQueue\Tests\Support\CliTestCase;
use DelayQueue\Tests\Support\SkewedRedis;
use PHPUnit\Framework\AssertionFailedError;

/** A Redis whose clock is an hour off. */
final class ClocksTest extends CliTestCase
{
    private ?SkewedRedis $skewed = null;

    protected function tearDown(): void
    {
        ini_set('delayqueue.testing', '1');
        Testing::travelBack();
        $this->skewed?->stop();
        parent::tearDown();
    }

    public function testAWorkerSaysOnceAtItsStartHowFarTheClocksDiffer(): void
    {
        foreach ([3600, -3600] as $seconds) {
            $queue = $this->skewed($seconds);
            foreach (['a', 'b'] as $id) {
                $queue->push(['do' => 'nothing'], id: $id);
            }
            $result = $this->work('--log=json');
            $notices = array_map(static fn (string $line): array => json_decode($line, true, flags: JSON_THROW_ON_ERROR), explode("\n", trim($result)));
            $this->assertSame(['ready', 'clock', 'stopped'], array_column($notices, 'event'));
            // The way to Redis belongs to what is measured.
            $this->assertEqualsWithDelta($seconds, $notices[1]['ahead'], 10.0);
            $sign = $seconds > 0 ? '\+' : '-';
            $this->assertMatchesRegularExpression("/^Redis' clock is {$sign}3[56]\\d\\d\\.\\d s from this host's/", $notices[1]['message']);
            $this->assertSame(0, $queue->count());
        }
    }

    public function testEachOfSeveralWorkersSaysIt(): void
    {
        $this->skewed(3600);
        $this->assertSame(2, preg_match_all("/Redis' clock is \+3[56]\d\d\.\d s/", $this->work('--processes=2')));
    }

    public function testAWorkerWhoseClockIsRightSaysNothing(): void
    {
        $result = $this->cli('work', self::HANDLER, '--stop-when-empty');
        $this->assertStringNotContainsString('clock', $result->errors);
    }

    public function testADelayIsAssertedWhateverTheClocksSay(): void
    {
        foreach ([3600, -3600] as $seconds) {
            $queue = $this->skewed($seconds);
            $queue->push(1, delay: '15m', id: 'a');
            JobAssertions::delayed($queue, 'a', 900);
            Testing::travel('5m');
            $queue->push(1, delay: '15m', id: 'b');
            JobAssertions::delayed($queue, 'a', 900);
            JobAssertions::delayed($queue, 'b', 900);
            try {
                JobAssertions::delayed($queue, 'a', 600);
            } catch (AssertionFailedError $error) {
                $this->assertStringContainsString('is delayed by 900 s, not 600 s', $error->getMessage());
                Testing::travelBack();
                continue;
            }
            $this->fail('another delay passes');
        }
    }

    public function testTheDoctorCallsItAnErrorUnlessATestHasMovedTheTime(): void
    {
        $queue = $this->skewed(-3600);
        $level = static fn (): string => array_column($queue->doctor(), 'level', 'check')['clock'];
        $this->assertSame('error', $level());
        Testing::travel('1h');
        $this->assertSame('warn', $level());
        Testing::travelBack();
        $this->assertStringContainsString('error clock:', $this->finish($this->startWith(['DELAYQUEUE_DSN' => $queue->settings()->dsn], 'doctor'))->output);
    }

    private function skewed(int $seconds): DelayQueue
    {
        $this->skewed?->stop();
        $this->skewed = new SkewedRedis($seconds);

        return new DelayQueue($this->queueName, $this->skewed->dsn());
    }

    /** The lines of a worker about itself. */
    private function work(string ...$options): string
    {
        $process = $this->startWith(['DELAYQUEUE_DSN' => $this->skewed->dsn()], 'work', self::HANDLER, '--stop-when-empty', ...$options);

        return $this->finish($process)->errors;
    }
}
