<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Dashboard;

use DateTimeImmutable;
use DelayQueue;
use DelayQueue\Console\ScheduleView;
use DelayQueue\Dashboard\Access;
use DelayQueue\Dashboard\Handler;
use DelayQueue\Dashboard\Request;
use DelayQueue\Dashboard\Response;
use DelayQueue\Dashboard\Site;
use DelayQueue\GroupLimits;
use DelayQueue\Schedule\Every;
use DelayQueue\Schedule\Schedules;
use RuntimeException;

/** Pages name Redis, do not find queues that do not exist, and mark schedules and queues that nobody works on. */
final class PlacesTest extends DashboardCase
{
    private const PAGES = ['/queue', '/errors', '/groups', '/job', '/workers', '/schedules'];

    public function testAQueueThatIsNoneIsNotFoundOnAnyPage(): void
    {
        $this->delayQueue('orders')->push(1);
        foreach (self::PAGES as $path) {
            $page = $this->get($path, ['queue' => 'oders', 'id' => 'a']);
            $this->assertSame(404, $page->status, $path);
            $this->assertStringContainsString('There is no queue oders', $page->body);
            $this->assertStringContainsString('href="/queue?queue=orders"', $page->body, 'the name that was meant');
            $this->assertStringNotContainsString('<form', $page->body);
        }
        $this->assertSame(['orders'], $this->delayQueue()->queues(), 'a look makes no queue');
    }

    public function testAQueueThatIsKnownIsFoundThoughItIsEmpty(): void
    {
        $once = ['receipt' => 'r', 'payload' => 1];
        $known = [
            'drained' => static fn (DelayQueue $queue) => [$queue->push(1), $queue->drain(static fn () => null)],
            'spread' => static fn (DelayQueue $queue) => $queue->sibling('spread', ['partitions' => 4])->push(1),
            'paused' => static fn (DelayQueue $queue) => $queue->pause(),
            'limited' => static fn (DelayQueue $queue) => $queue->limitQueue(concurrency: 1),
            'limits-of-a-group' =>
                static fn (DelayQueue $queue) => $queue->limitGroups('g', new GroupLimits(concurrency: 1)),
            'received' =>
                static fn (DelayQueue $queue) => [$queue->pushOnce([$once]), $queue->purge(), $queue->forget()],
            'forgotten' => static fn (DelayQueue $queue) => [$queue->push(1, delay: '1h'), $queue->forget()],
        ];
        foreach ($known as $name => $make) {
            $make($this->delayQueue($name));
            $this->assertSame(200, $this->get('/queue', ['queue' => $name])->status, $name);
        }
        $own = new Handler($this->delayQueue('never-used'), static fn (): Access => Access::Read);
        $page = $own->handle(new Request('GET', '/queue', ['queue' => 'never-used']));
        $this->assertSame(200, $page->status, 'it is configured');
        $this->assertSame(200, $this->get('/schedules')->status);
        $this->assertSame(200, $this->get('/schedules', ['queue' => 'schedules'])->status);
        $this->assertSame(200, $this->get('/journal', ['queue' => 'of-long-ago'])->status);
        $this->delayQueue('works')->push(1);
        $worker = $this->delayQueue('works')->watch('works', 'served');
        $status = 0;
        $worker->consume(function () use ($worker, &$status): void {
            $until = hrtime(true) + 20e9;
            while ($worker->workers(queue: 'served') === [] && hrtime(true) < $until) {
                usleep(50_000);
            }
            $status = $this->get('/queue', ['queue' => 'served'])->status;
        }, maxJobs: 1);
        $this->assertSame(200, $status, 'a worker is for it');
    }

    /** @group redis */
    #[\PHPUnit\Framework\Attributes\Group('redis')]
    public function testEachPageNamesRedisAndPrefixWithoutALogin(): void
    {
        $names = [
            'redis://shop:s3cret@10.0.0.5:6390/3' => 'redis://10.0.0.5:6390/3',
            'redis://:s3%40ret@[2001:db8::5]:6390' => 'redis://[2001:db8::5]:6390/0',
            'redis+sentinel://shop:s3cret@10.0.0.5:1,10.0.0.6:2/s/3?sentinel_user=a&sentinel_password=s3cret'
                => 'redis+sentinel://10.0.0.5:1,10.0.0.6:2/s/3',
            'redis+cluster://shop:s3cret@10.0.0.5:1,10.0.0.6:2' => 'redis+cluster://10.0.0.5:1,10.0.0.6:2',
            'redis+unix://shop:s3cret@/run/redis@shop.sock?db=5' => 'redis+unix:///run/redis@shop.sock?db=5',
        ];
        foreach ($names as $dsn => $shown) {
            $queue = new DelayQueue('q', $dsn);
            $site = new Site($queue, new Request('GET', '/'), Access::Read, static fn () => null, false, null);
            $this->assertSame($shown, $site->redis());
        }
        $queue = new DelayQueue('q', $this->delayQueue()->dsn(), ['prefix' => 'shop']);
        $page = (new Handler($queue, static fn (): Access => Access::Read))->handle(new Request('GET', '/'))->body;
        $this->assertStringContainsString('redis.sock?db=0</bdi> · prefix <bdi>shop</bdi>', $page);
    }

    public function testASchedulesPageSaysThatNoRunnerWorksAndWhichSchedulesAreLate(): void
    {
        $this->assertStringNotContainsString('no runner', $this->get('/schedules')->body, 'there is nothing to run');
        $schedules = new Schedules($this->delayQueue('schedules'));
        $schedules->set('poll', Every::interval('1h'), queue: 'polls');
        $page = $this->get('/schedules')->body;
        $this->assertStringContainsString('no runner', $page);
        $this->assertStringNotContainsString('>late<', $page);
        $this->travel('1h 10m');
        $this->assertStringContainsString('>late<', $this->get('/schedules')->body);
        $schedules->pause('poll');
        $this->assertStringNotContainsString('>late<', $this->get('/schedules')->body);
    }

    public function testTheCommandLineMarksALateScheduleToo(): void
    {
        $schedules = new Schedules($this->delayQueue('schedules'));
        $this->travelTo(new DateTimeImmutable('-2 hours'));
        $schedules->set('late', Every::interval('1h'), queue: 'polls');
        $this->travelTo(new DateTimeImmutable());
        $schedules->set('soon', Every::interval('1h'), queue: 'polls');
        $when = static fn (string $name): string => ScheduleView::row($schedules->get($name))[3];
        $this->assertStringContainsString('ago), late: does a runner work?', $when('late'));
        $this->assertStringNotContainsString('late', $when('soon'));
    }

    /**
     * It counts the commands of Redis.
     *
     * @group redis
     */
    #[\PHPUnit\Framework\Attributes\Group('redis')]
    public function testHealthLooksAtAllQueuesAFewAtATime(): void
    {
        for ($n = 0; $n < 30; ++$n) {
            $this->delayQueue(sprintf('q%02d', $n))->push(1, delay: '1h', id: 'a');
        }
        $this->loseKeysOf('q29');
        $this->loseKeysOf('q03');
        $seen = [];
        for ($query = [], $pages = 1; ; ++$pages) {
            $page = $this->get('/health', $query)->body;
            preg_match_all("/jobs of queue &apos;(q\d\d)&apos; lie in no state/", $page, $found);
            array_push($seen, ...$found[1]);
            if (preg_match('~href="/health\?after=([^"]+)" rel="next"~', $page, $next) !== 1) {
                break;
            }
            $query = ['after' => $next[1]];
        }
        $this->assertSame([3, ['q03', 'q29']], [$pages, $seen]);
        $this->assertStringContainsString('30 of 30 queues were looked at.', $page);
    }

    /** Deletes a key, as somebody at a prompt of Redis does. */
    private function loseKeysOf(string $queue): void
    {
        preg_match('~^redis\+unix://(.+)\?~', $this->delayQueue()->dsn(), $found);
        $redis = stream_socket_client('unix://' . rawurldecode($found[1])) ?: throw new RuntimeException('no Redis');
        fwrite($redis, "DEL dq:{{$queue}}:waiting\r\n");
        $this->assertSame(":1\r\n", fgets($redis));
        fclose($redis);
    }

    /** @param array<string, string> $query */
    private function get(string $path, array $query = []): Response
    {
        return $this->handler()->handle(new Request('GET', $path, $query));
    }
}
