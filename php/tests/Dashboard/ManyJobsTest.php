<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Dashboard;

use DelayQueue;
use DelayQueue\Dashboard\Access;
use DelayQueue\Dashboard\Handler;
use DelayQueue\Dashboard\Request;
use DelayQueue\Dashboard\Response;
use DelayQueue\Job;
use DelayQueue\JobInfo;
use DelayQueue\Search\Tags;
use DelayQueue\State;
use DelayQueue\Testing\RedisServer;
use RuntimeException;

/** Changes of many jobs: steps, each a request of its own. */
final class ManyJobsTest extends DashboardCase
{
    private const JOBS = 1_050;

    public function testEachChangeIsMadeInStepsThatSayHowFarItIs(): void
    {
        $changes = [
            'cancel' => ['delayed', [], static fn (): int => 0],
            'kick' => ['delayed', [], fn (): int => $this->delayQueue('kick')->count(State::Ready)],
            'reschedule' => [
                'delayed', ['delay' => '0'], fn (): int => $this->delayQueue('reschedule')->count(State::Ready),
            ],
            'move' => ['delayed', ['to' => 'elsewhere'], fn (): int => $this->delayQueue('elsewhere')->count()],
        ];
        $expected = ['cancel' => 0, 'kick' => self::JOBS, 'reschedule' => self::JOBS, 'move' => self::JOBS];
        foreach ($changes as $change => [$state, $arguments, $count]) {
            $queue = $this->delayQueue($change);
            $queue->pushMany((static function () {
                for ($n = 0; $n < self::JOBS; ++$n) {
                    yield ['payload' => $n, 'delay' => 60 + $n, 'headers' => $n % 1_000 === 0 ? Tags::of('rare') : []];
                }
            })());
            $form = ['queue' => $change, 'state' => $state, 'total' => (string) self::JOBS] + $arguments;
            [$steps, $last] = $this->inSteps("/found/$change", $form);
            $this->assertGreaterThanOrEqual(2, $steps, 'a step reads no more than 500 jobs');
            $said = [$last['done'], $last['left'], $last['change']];
            $this->assertSame([(string) self::JOBS, '0', $change], $said, $change);
            $this->assertSame($expected[$change], $count(), $change);
        }
        $this->assertSame(0, $this->delayQueue('move')->count());
        $page = $this->handler()->handle(new Request('GET', '/queue', $last))->body;
        $this->assertStringContainsString("Jobs that are changed: 1\u{202F}050.", $page);
    }

    public function testASearchIsKeptFromStepToStep(): void
    {
        $queue = $this->delayQueue();
        $job = static fn (int $n): array
            => ['payload' => $n, 'delay' => 60 + $n, 'headers' => $n % 3 === 0 ? Tags::of('third') : []];
        $queue->pushMany(array_map($job, range(0, self::JOBS)));
        [, $last] = $this->inSteps(
            '/found/cancel',
            ['queue' => $queue->name(), 'state' => 'delayed', 'tag' => 'third'],
        );
        $this->assertSame(['351', 'third', 700], [$last['done'], $last['tag'], $queue->count()]);
    }

    public function testAJobThatComesBackMeanwhileIsNotChangedASecondTime(): void
    {
        $queue = $this->delayQueue(options: ['maxAttempts' => 1]);
        $queue->pushMany(array_map(static fn (int $n): array => ['payload' => $n], range(1, self::JOBS)));
        $queue->drain(static fn () => throw new RuntimeException('first'));
        $fail = static function () use ($queue): void {
            $queue->drain(static fn () => throw new RuntimeException('second'), limit: 100);
        };
        [$steps, $last] = $this->inSteps('/found/kick', ['queue' => $queue->name(), 'state' => 'buried'], $fail);
        $this->assertSame((string) self::JOBS, $last['done']);
        $this->assertSame(100 * $steps, $queue->count(State::Buried));
    }

    public function testAStepThatFailsSaysHowFarItCameAndCanBeRepeated(): void
    {
        $server = RedisServer::start();
        $queue = new DelayQueue('jobs', $server->dsn());
        $job = static fn (int $n): array => ['payload' => $n, 'delay' => 60 + $n];
        $queue->pushMany(array_map($job, range(1, self::JOBS)));
        $told = [];
        $changed = static function (string $words) use (&$told): void {
            $told[] = $words;
        };
        $handler = new Handler($queue, static fn (): Access => Access::Write, changed: $changed);
        $step = fn (array $form): Response => $handler->handle($this->change('/found/kick', $form));
        $form = self::form($step(['queue' => 'jobs', 'state' => 'delayed', 'total' => (string) self::JOBS]));
        self::command($server, 'CONFIG SET min-replicas-to-write 1');
        $failed = $step($form);
        $this->assertSame(502, $failed->status);
        $this->assertStringContainsString('NOREPLICAS', $failed->body);
        $why = 'the script repeats no step that has failed';
        $this->assertDoesNotMatchRegularExpression('~</progress><form ~', $failed->body, $why);
        $this->assertSame($form, self::form($failed));
        $this->assertSame("found, queue jobs, state delayed, change kick, done $form[done], left 0", end($told));
        self::command($server, 'CONFIG SET min-replicas-to-write 0');
        for ($again = $step(self::form($failed)); $again->status === 200; $again = $step(self::form($again)));
        $this->assertStringContainsString('done=' . self::JOBS . '&left=0', $again->headers['location']);
        $this->assertSame(self::JOBS, $queue->count(State::Ready));
        $server->stop();
    }

    public function testEachStepIsGuarded(): void
    {
        $queue = $this->delayQueue();
        $queue->pushMany(
            array_map(static fn (int $n): array => ['payload' => $n, 'delay' => 60], range(0, self::JOBS)),
        );
        $form = ['queue' => $queue->name(), 'state' => 'delayed'];
        $form = self::form($this->handler()->handle($this->change('/found/cancel', $form)));
        $left = $queue->count();
        $this->assertGreaterThan(0, $left);
        $foreign = new Request('POST', '/found/cancel', [], $form, ['sec-fetch-site' => 'cross-site'], '/dq');
        $refused = [
            'no right any more' => $this->handler(Access::Read)->handle($this->change('/found/cancel', $form)),
            'nobody any more' => $this->handler(Access::None)->handle($this->change('/found/cancel', $form)),
            'another site' => $this->handler()->handle($foreign),
        ];
        foreach ($refused as $why => $answer) {
            $this->assertSame([403, $left], [$answer->status, $queue->count()], $why);
        }
        $linked = $this->handler()->handle(new Request('GET', '/found', $form + ['change' => 'cancel']));
        $this->assertSame(404, $linked->status, 'no link begins a change');
        $wrong = $this->handler()->handle($this->change('/found/cancel', ['after' => 'x'] + $form));
        $this->assertSame(400, $wrong->status);
        $this->assertSame($left, $queue->count());
    }

    public function testTheJobsOfAGroupAreCancelledInSteps(): void
    {
        $queue = $this->delayQueue();
        $job = static fn (int $n): array
            => ['payload' => $n, 'delay' => $n % 2 * 60, 'group' => $n % 10 === 0 ? 'other' : 'g'];
        $queue->pushMany(array_map($job, range(0, self::JOBS)));
        [, $last] = $this->inSteps('/group/cancel', ['queue' => $queue->name(), 'group' => 'g', 'total' => '945']);
        $this->assertSame(['945', 'g'], [$last['done'], $last['group']]);
        $this->assertSame(106, $queue->count());
    }

    public function testAChangeOfOneKindOfErrorsTouchesNoOtherKind(): void
    {
        $queue = $this->delayQueue(options: ['maxAttempts' => 1]);
        $errors = [
            "SQLSTATE[23000]: Integrity constraint violation: 1062 Duplicate entry '%d' for key 'orders.id'",
            'SQLSTATE[42S02]: Base table or view not found: 1146 Table \'shop.orders\' doesn\'t exist',
            'SQLSTATE[40001]: Serialization failure: 1213 Deadlock found when trying to get lock after %d s',
        ];
        $queue->pushMany(array_map(static fn (int $n): array => ['payload' => $n], range(0, 29)));
        $error = static fn (int $n): string => sprintf($errors[$n % 3], $n);
        $queue->drain(static fn (Job $job) => throw new RuntimeException($error($job->payload)));
        $page = $this->handler()->handle(new Request('GET', '/errors', ['queue' => $queue->name()]))->body;
        $this->assertSame(3, substr_count($page, '<td class="number">10</td>'));
        $this->assertSame(1, preg_match('~href="/queue\?([^"]*40001[^"]*)"~', $page, $link));
        parse_str(html_entity_decode($link[1]), $search);
        $list = $this->handler()->handle(new Request('GET', '/queue', $search))->body;
        $this->assertStringContainsString('10 found in 30 jobs.', $list);
        [, $last] = $this->inSteps('/found/kick', $search);
        $this->assertSame('10', $last['done']);
        $kicked = array_map(static fn (JobInfo $job): int => $job->payload % 3, $queue->list(State::Ready));
        $this->assertSame(array_fill(0, 10, 2), $kicked);
    }

    /**
     * @param array<string, string> $form
     * @param (callable(): void)|null $between
     *
     * @return array{int, array<string, string>} how many steps, and the parameters of the page after the last one
     */
    private function inSteps(string $path, array $form, ?callable $between = null): array
    {
        for ($steps = 1; ; ++$steps) {
            $this->assertLessThan(100, $steps);
            $answer = $this->handler()->handle($this->change($path, $form));
            $between === null || $between();
            if ($answer->status === 303) {
                parse_str((string) parse_url($answer->headers['location'], PHP_URL_QUERY), $query);

                return [$steps, $query];
            }
            $this->assertSame(200, $answer->status, $answer->body);
            $this->assertMatchesRegularExpression('~<progress [^>]*></progress><form ~', $answer->body);
            $this->assertStringContainsString('Stop here', $answer->body);
            $form = self::form($answer);
        }
    }

    /** @return array<string, string> the fields of the form that goes on */
    private static function form(Response $answer): array
    {
        preg_match_all('/<input type="hidden" name="([^"]*)" value="([^"]*)">/', $answer->body, $fields);

        $decoded = static fn (string $value): string => html_entity_decode($value, ENT_QUOTES | ENT_HTML5);

        return array_combine($fields[1], array_map($decoded, $fields[2]));
    }

    private static function command(RedisServer $server, string $command): void
    {
        preg_match('~^redis\+unix://(.+)\?~', $server->dsn(), $found);
        $redis = stream_socket_client('unix://' . rawurldecode($found[1]));
        fwrite($redis, "$command\r\n");
        self::assertSame("+OK\r\n", fgets($redis));
        fclose($redis);
    }
}
