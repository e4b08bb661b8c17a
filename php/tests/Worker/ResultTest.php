<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Worker;

use Closure;
use DelayQueue;
use DelayQueue\Worker\Result;
use PHPUnit\Framework\TestCase;
use stdClass;
use ValueError;

final class ResultTest extends TestCase
{
    use OnEachKindOfQueue;

    /** @dataProvider queues */
    #[\PHPUnit\Framework\Attributes\DataProvider('queues')]
    public function testAResultIsThereForItsTime(Closure $open): void
    {
        $queue = $open();
        $result = Result::of($queue, 'order-1');
        $this->assertSame([null, false, 'none'], [$result->get(), $result->exists(), $result->get('none')]);

        Result::put($queue, 'order-1', ['url' => 'https://shop.example/ä', 'n' => 1.0], keep: '1h');
        $this->assertSame([['url' => 'https://shop.example/ä', 'n' => 1.0], true], [$result->get(), $result->exists()]);
        $this->assertNull(Result::of($queue, 'order-2')->get());

        $this->travel('59m');
        $this->assertTrue($result->exists());
        $this->travel('61s');
        $this->assertSame(['over', false], [$result->get('over'), $result->exists()]);
    }

    /** @dataProvider queues */
    #[\PHPUnit\Framework\Attributes\DataProvider('queues')]
    public function testASecondPutReplacesValueAndTime(Closure $open): void
    {
        $queue = $open();
        Result::put($queue, 'a', 1, keep: '1h');
        $this->travel('30m');
        Result::put($queue, 'a', 2, keep: '1h');
        $this->travel('59m');
        $this->assertSame(2, Result::of($queue, 'a')->get());
        $this->assertCount(1, $queue->sibling('orders:results'));
    }

    /** @dataProvider queues */
    #[\PHPUnit\Framework\Attributes\DataProvider('queues')]
    public function testANullIsAResult(Closure $open): void
    {
        $queue = $open();
        Result::put($queue, 'a', null, keep: 1);
        $result = Result::of($queue, 'a');
        $this->assertSame([null, true, null], [$result->get('none'), $result->exists(), $result->wait(0, 'none')]);
    }

    /** @dataProvider queues */
    #[\PHPUnit\Framework\Attributes\DataProvider('queues')]
    public function testAPutRemovesSomeThatAreOver(Closure $open): void
    {
        $queue = $open();
        for ($number = 0; $number < 25; $number++) {
            Result::put($queue, "old-$number", $number, keep: '1m');
        }
        $this->travel('2m');
        Result::put($queue, 'new', 1, keep: '1m');
        $this->assertLessThanOrEqual(16, count($queue->sibling('orders:results')));
        Result::put($queue, 'newer', 1, keep: '1m');
        Result::put($queue, 'newest', 1, keep: '1m');
        $this->assertCount(3, $queue->sibling('orders:results'));
        $this->assertSame(1, Result::of($queue, 'new')->get());
    }

    /** @dataProvider queues */
    #[\PHPUnit\Framework\Attributes\DataProvider('queues')]
    public function testAWorkerThatServesTheResultsByMistakeRunsNone(Closure $open): void
    {
        $queue = $open();
        Result::put($queue, 'a', 1, keep: '1m');
        $results = $queue->sibling('orders:results');
        $never = static fn () => self::fail('a handler got a result');
        $this->assertSame(0, $results->drain($never));
        $this->assertTrue(Result::of($queue, 'a')->exists());
        $this->travel('2m');
        $this->assertSame([0, 0], [$results->drain($never), count($results)]);
    }

    /** @dataProvider queues */
    #[\PHPUnit\Framework\Attributes\DataProvider('queues')]
    public function testAHandlerNamesItsJob(Closure $open): void
    {
        $queue = $open(['format' => 'raw', 'capacity' => 1]);
        $queue->sibling('mails')->push('bytes', id: 'mail-1');
        $queue->watch('orders', 'mails');
        $queue->drain(static fn ($job, $queue) => Result::put($queue, $job, 'sent', keep: '1h'));
        $this->assertSame('sent', Result::of($queue->sibling('mails'), 'mail-1')->get());
        Result::put($queue, 'one', 1, keep: '1h');
        Result::put($queue, 'two', 2, keep: '1h');
        $this->assertSame([1, 2], [Result::of($queue, 'one')->get(), Result::of($queue, 'two')->get()]);
    }

    /** @group redis */
    #[\PHPUnit\Framework\Attributes\Group('redis')]
    public function testWaitEndsWithTheResultOrItsTime(): void
    {
        $queue = $this->delayQueue('orders');
        $started = hrtime(true);
        $this->assertSame('none', Result::of($queue, 'a')->wait('120ms', 'none'));
        $this->assertGreaterThanOrEqual(0.12, (hrtime(true) - $started) / 1e9);

        $code = '$q = new DelayQueue("orders"); usleep(200_000); DelayQueue\Worker\Result::put($q, "a", "made", keep: 60);';
        $loader = var_export(dirname(__DIR__, 2) . '/autoload.php', true);
        $process = proc_open([PHP_BINARY, '-r', "require $loader; $code"], [], $pipes);
        $this->assertSame('made', Result::of($queue, 'a')->wait('20s'));
        $this->assertSame(0, proc_close($process));
    }

    public function testBadInputIsRefusedBeforeAnythingIsSent(): void
    {
        $queue = new DelayQueue('orders', 'redis://127.0.0.1:1');
        $put = Result::class . '::put(): Argument #';
        $long = str_repeat('x', 4095);
        $id = Result::class . '::of(): Argument #2 ($job) must be an id of 1 to 200 bytes without control characters';
        $mistakes = [
            [fn () => Result::put($queue, 'a', $long, keep: 1), "{$put}3 (\$value) must be at most 4096 bytes of JSON, 4097 given"],
            [fn () => Result::put($queue, 'a', INF, keep: 1), "{$put}3 (\$value) must be encodable as JSON: Inf and NaN"],
            [fn () => Result::put($queue, 'a', 1, keep: 0), "{$put}4 (\$keep) must be greater than 0"],
            [fn () => Result::put($queue, 'a', 1, keep: 'long'), "{$put}4 (\$keep) must be a number of seconds or a duration"],
            [fn () => Result::put($queue, '', 1, keep: 1), $id],
            [fn () => Result::of($queue, "a\n"), $id],
            [fn () => Result::of($queue, str_repeat('x', 201)), $id],
            [fn () => Result::of($queue->sibling(str_repeat('q', 193)), 'a'), 'Argument #1 ($queue) must '],
            [fn () => Result::of($queue, 'a')->wait(-1), Result::class . '::wait(): Argument #1 ($timeout) must be greater than or equal to 0'],
        ];
        foreach ($mistakes as [$mistake, $message]) {
            try {
                $mistake();
                $this->fail('it was taken');
            } catch (ValueError $error) {
                $this->assertStringContainsString($message, $error->getMessage());
            }
        }
    }

    public function testTheLongestResult(): void
    {
        Result::put($this->delayQueue('orders'), 'a', str_repeat('x', 4094), keep: 1);
        Result::put($this->delayQueue('orders'), 'b', new stdClass(), keep: '3650d');
        $this->assertSame([4094, []], [strlen(Result::of($this->delayQueue('orders'), 'a')->get()), Result::of($this->delayQueue('orders'), 'b')->get()]);
    }
}
