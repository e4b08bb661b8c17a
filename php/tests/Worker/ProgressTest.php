<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Worker;

use Closure;
use DelayQueue;
use DelayQueue\Console\JobView;
use DelayQueue\Flow\Chain;
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
    public function testHeadersOfThreeLibrariesInOneJobAreNotErased(Closure $open): void
    {
        $queue = $open();
        Chain::of(['payload' => 1, 'id' => 'c'], ['payload' => ['page' => 0], 'headers' => ['tenant' => 'acme', 'cursor' => 'old']], ['payload' => 3])->push($queue);
        $seen = [];
        $queue->drain(new Follow(function (JobInterface $job) use ($queue, &$seen): string {
            if ($job->id === 'c/2' && $job->attempts === 1) {
                $job->update(headers: ['cursor' => 'x', 'shard' => '7']);
                Progress::of($job)->report(0.25, 'begun');
                $job->update(['page' => 2], ['shard' => null]);
                $this->travel('2s');
                Progress::of($job)->report(0.5);
                $job->release();
            } elseif ($job->id === 'c/2') {
                $seen = [$job->payload, Progress::in($job)['share'] ?? null, Chain::result($job), $job->headers];
            }

            return "of $job->id";
        }));

        $this->assertSame([['page' => 2], 0.5, 'of c'], array_slice($seen, 0, 3));
        $ours = [Chain::HEADER => 1, Chain::RESULT => 1, Progress::HEADER => 1];
        $this->assertEquals(['tenant' => 'acme', 'cursor' => 'x'], array_diff_key($seen[3], $ours));
        $this->assertCount(3, array_intersect_key($ours, $seen[3]));
        $this->assertNull(Chain::status($queue, 'c'), 'the chain has gone on to its end');
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
