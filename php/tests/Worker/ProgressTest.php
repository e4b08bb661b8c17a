<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Worker;

use Closure;
use DelayQueue;
use DelayQueue\Console\JobView;
use DelayQueue\Flow\Batch;
use DelayQueue\Flow\Follow;
use DelayQueue\JobInterface;
use DelayQueue\Testing;
use DelayQueue\Worker\Progress;
use PHPUnit\Framework\TestCase;
use ValueError;
use WeakReference;

final class ProgressTest extends TestCase
{
    use OnEachKindOfQueue;

    /** @dataProvider queues */
    #[\PHPUnit\Framework\Attributes\DataProvider('queues')]
    public function testAReportIsSeenAndLeavesAllElse(Closure $open): void
    {
        $queue = $open();
        $payload = ['empty' => new \stdClass(), 'none' => [], 'text' => "ä/\u{2028}", 'number' => 1.0, 'deep' => [[1, null, true]], '' => 'x'];
        $queue->push($payload, id: 'a', headers: ['tenant' => 'acme', '7' => 'seven'], group: 'g');
        $before = $queue->peek('a');
        $this->assertNull(Progress::in($before));

        $job = $queue->reserve();
        Progress::of($job)->report(0.4, "page\n3");

        $info = $queue->peek('a');
        $told = Progress::in($info);
        $this->assertSame([0.4, 'page 3'], [$told['share'], $told['text']]);
        $this->assertEqualsWithDelta(microtime(true), $told['at'], 5);
        $this->assertSame($before->body, $info->body);
        $this->assertEquals(['tenant' => 'acme', '7' => 'seven'], array_diff_key($info->headers, [Progress::HEADER => 1]));
        $this->assertSame('g', $info->group);

        $job->release();
        $this->assertSame(0.4, Progress::in($queue->reserve())['share'], 'the next attempt knows how far the last one came');
    }

    /** @dataProvider queues */
    #[\PHPUnit\Framework\Attributes\DataProvider('queues')]
    public function testBytesStayAsTheyAre(Closure $open): void
    {
        $queue = $open(['format' => 'raw']);
        $queue->push("\0\xff{\"n\": 1.50}", id: 'a');
        Progress::of($queue->reserve())->report(0.5);
        $this->assertSame(["\0\xff{\"n\": 1.50}", 0.5], [$queue->peek('a')->body, Progress::in($queue->peek('a'))['share']]);
    }

    public function testAPayloadOfAnotherProgramIsWrittenOnlyIfItStaysWhatItIs(): void
    {
        $raw = $this->delayQueue('orders', ['format' => 'raw']);
        $bodies = [
            '{ "name": "K\u00f6ln \u2028", "list": [ 1, 2.5 ], "none": {} }' => '{"name":"Köln \u2028","list":[1,2.5],"none":{}}',
            '{"n":1.50}' => null,
            '{"n":12345678901234567890}' => null,
            '{"n":1e400}' => null,
            "{\"\\u0000a\":1}" => null,
        ];
        foreach ($bodies as $body => $written) {
            $raw->push($body, id: 'a');
            $job = $this->delayQueue('orders')->reserve();
            Progress::of($job)->report(0.5);
            $info = $raw->peek('a');
            $this->assertSame([$written ?? $body, $written !== null], [$info->body, Progress::in($info) !== null]);
            $job->ack();
        }
    }

    public function testItIsWrittenOnceASecondAndAtTheEnd(): void
    {
        $job = Testing::job(['order' => 1]);
        $writes = static fn (): array => array_map(
            static fn (DelayQueue\JobCall $call): float => json_decode($call->headers[Progress::HEADER], true)['share'] + 0,
            Testing::calls($job),
        );
        foreach ([0.1, 0.2, 0.3] as $share) {
            Progress::of($job)->report($share);
        }
        $this->assertEquals([0.1], $writes());
        $this->travel('900ms');
        Progress::of($job)->report(0.4);
        $this->travel('200ms');
        Progress::of($job)->report(0.5);
        Progress::of($job)->report(1);
        $this->assertEquals([0.1, 0.5, 1], $writes());
    }

    /** @dataProvider queues */
    #[\PHPUnit\Framework\Attributes\DataProvider('queues')]
    public function testANoteForTheNextAttemptIsKeptByReports(Closure $open): void
    {
        $queue = $open();
        $queue->push(['page' => 0], id: 'a', headers: ['tenant' => 'acme']);
        $progress = Progress::of($queue->reserve());
        $progress->note(['page' => 1]);
        $this->assertNull(Progress::in($queue->peek('a')));
        $progress->report(0.5);
        $progress->note(['page' => 2], ['tenant' => 'acme', 'cursor' => 'x']);
        $this->assertSame(0.5, Progress::in($queue->peek('a'))['share']);
        $progress->report(1.0);

        $info = $queue->peek('a');
        $this->assertSame([['page' => 2], 1.0], [$info->payload, Progress::in($info)['share']]);
        $this->assertSame(['acme', 'x'], [$info->headers['tenant'], $info->headers['cursor']]);
        $progress->note(str_repeat('x', 70_000));
        $progress->report(1.0, 'again');
        $this->assertSame('', Progress::in($queue->peek('a'))['text'], 'a note may be too long to write it again and again');
    }

    /** @dataProvider queues */
    #[\PHPUnit\Framework\Attributes\DataProvider('queues')]
    public function testANoteKeepsTheHeadersOfABatch(Closure $open): void
    {
        $queue = $open();
        $batch = Batch::start($queue, 'import-7', [['payload' => 0, 'id' => 'a']]);
        $queue->drain(new Follow(static function (JobInterface $job): void {
            if ($job->attempts === 1) {
                Progress::of($job)->note(1, ['cursor' => 'x']);
                $job->release();
            }
        }));
        $this->assertNull($batch->progress());
    }

    public function testOfALongPayloadNothingIsWritten(): void
    {
        foreach ([65_536 => 1, 65_537 => 0] as $length => $writes) {
            $job = Testing::job(str_repeat('x', $length - 2));
            Progress::of($job)->report(1);
            $this->assertCount($writes, Testing::calls($job));
        }
    }

    public function testAJobThatIsLostOrSettledIsNoError(): void
    {
        $queue = $this->delayQueue('orders');
        $queue->pushMany([['payload' => 1, 'id' => 'lost'], ['payload' => 2, 'id' => 'settled']]);
        [$lost, $settled] = $queue->reserveMany(2);
        $queue->cancel('lost');
        $settled->ack();
        Progress::of($lost)->report(0.5);
        Progress::of($lost)->report(1);
        Progress::of($settled)->report(1);
        $this->assertTrue($lost->isLost());
        $this->assertQueueEmpty('orders');
    }

    public function testHeadersThatHaveNoRoomLeftAreNoError(): void
    {
        $queue = $this->delayQueue('orders');
        $queue->push(1, id: 'a', headers: ['long' => str_repeat('x', 8180)]);
        Progress::of($queue->reserve())->report(1);
        $this->assertNull(Progress::in($queue->peek('a')));
    }

    public function testJobsAreNotKept(): void
    {
        $job = Testing::job(1);
        Progress::of($job)->report(0.5);
        $reference = WeakReference::create($job);
        unset($job);
        $this->assertNull($reference->get());
    }

    public function testADamagedHeaderIsNoProgress(): void
    {
        foreach (['', '5', '"x"', 'x', '{"share":"x","text":"","at":1}', '{"share":1}', '[]'] as $header) {
            $this->assertNull(Progress::in(Testing::jobInfo(['headers' => [Progress::HEADER => $header]])), $header);
        }
    }

    public function testTheCommandLineShowsIt(): void
    {
        $headers = ['tenant' => 'acme', Progress::HEADER => '{"share":0.425,"text":"page 3","at":1700000000}'];
        $lines = array_column(JobView::toText(Testing::jobInfo(['headers' => $headers])), 1, 0);
        $this->assertStringStartsWith('43 % page 3, 2023-11-14', $lines['progress']);
        $this->assertSame('tenant: acme', $lines['header']);
        $this->assertArrayNotHasKey('progress', array_column(JobView::toText(Testing::jobInfo()), 1, 0));
    }

    /** @return array<string, array{float}> */
    public static function wrongShares(): array
    {
        return ['below' => [-0.01], 'above' => [1.01], 'none' => [NAN], 'endless' => [INF]];
    }

    /** @dataProvider wrongShares */
    #[\PHPUnit\Framework\Attributes\DataProvider('wrongShares')]
    public function testAShareOutsideOfTheWholeIsRefused(float $share): void
    {
        $this->expectException(ValueError::class);
        $this->expectExceptionMessage(Progress::class . '::report(): Argument #1 ($share) must be between 0 and 1');
        Progress::of(Testing::job(1))->report($share);
    }
}
