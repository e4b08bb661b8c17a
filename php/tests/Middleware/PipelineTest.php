<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Middleware;

use Closure;
use DelayQueue\Flow\Follow;
use DelayQueue\Job;
use DelayQueue\JobInterface;
use DelayQueue\Middleware\Pipeline;
use DelayQueue\QueueInterface;
use DelayQueue\State;
use DelayQueue\Testing;
use DelayQueue\Tests\Worker\Recorder;
use DelayQueue\Worker\TaskRouter;
use RuntimeException;

final class PipelineTest extends MiddlewareCase
{
    public function testTheFirstMiddlewareIsTheOutermostAndAllGetTheQueue(): void
    {
        $notes = [];
        $noting = static function (string $name) use (&$notes): Closure {
            return static function (JobInterface $job, callable $next, QueueInterface $queue) use (&$notes, $name): mixed {
                $notes[] = "$name before $job->id in {$queue->name()}";
                $result = $next($job);
                $notes[] = "$name after $result";

                return $result . $name;
            };
        };
        $handler = static function (JobInterface $job, QueueInterface $queue) use (&$notes): string {
            $notes[] = "handles $job->id in {$queue->name()}";

            return 'result ';
        };
        $returned = null;
        $queue = $this->delayQueue('orders');
        $this->push($queue, 'a');
        $pipeline = new Pipeline($handler, $noting('1'), $noting('2'));
        $queue->consume(static function (JobInterface $job, QueueInterface $queue) use ($pipeline, &$returned): void {
            $returned = (new Follow($pipeline))($job, $queue);
        }, stopWhenEmpty: true);

        $this->assertSame(['1 before a in orders', '2 before a in orders', 'handles a in orders', '2 after result ', '1 after result 2'], $notes);
        $this->assertSame('result 21', $returned, 'what chains give to the next job');
        $this->assertCount(0, $queue);
    }

    public function testMiddlewareThatDoesNotGoOnDecidesAboutTheJob(): void
    {
        $queue = $this->delayQueue();
        $this->push($queue, 'done', 'failed', 'thrown', 'released');
        $decide = static fn (JobInterface $job): mixed => match ($job->id) {
            'done' => true,
            'failed' => false,
            'thrown' => throw new RuntimeException('not today'),
            'released' => $job->release('2h', countAttempt: false),
        };
        $handled = $this->runDueJobs(new Pipeline(fn () => $this->fail('the handler is not reached'), $decide), $queue);

        $this->assertSame(4, $handled);
        $this->assertNull($queue->peek('done'));
        $this->assertSame('the handler returned false', $queue->peek('failed')?->lastError);
        $this->assertStringStartsWith('RuntimeException: not today', (string) $queue->peek('thrown')?->lastError);
        $this->assertSame([State::Delayed, 0], [$queue->peek('released')?->state, $queue->peek('released')?->attempts]);
    }

    public function testTheHandlerGetsTheJobThatIsHandedOnAndHearsOfTheOneOfTheLoop(): void
    {
        $recorder = new class () {
            /** @var list<mixed> */
            public array $notes = [];

            public function handle(JobInterface $job): void
            {
                $this->notes[] = $job->payload;
                $job->payload === 'bad' && throw new RuntimeException('no bank');
            }

            public function afterSucceeded(Job $job): void
            {
                $this->notes[] = "$job->id succeeded";
            }

            public function afterFailed(Job $job, \Throwable $error): void
            {
                $this->notes[] = "$job->id failed: {$error->getMessage()}";
            }
        };
        $decode = static fn (JobInterface $job, callable $next): mixed => $next(Testing::job(base64_decode($job->payload), id: 'another'));
        $queue = $this->delayQueue();
        $queue->push(base64_encode('good'), id: 'a');
        $queue->push(base64_encode('bad'), id: 'b', maxAttempts: 1);
        $this->runDueJobs(new Pipeline($recorder, $decode), $queue);

        $this->assertSame(['good', 'a succeeded', 'bad', 'b failed: no bank'], $recorder->notes);
        $this->assertNull($queue->peek('a'));
        $this->assertSame(State::Buried, $queue->peek('b')?->state);
    }

    public function testItGoesAroundARouterAndAroundOneOfItsTasks(): void
    {
        $seen = [];
        $see = static function (string $where) use (&$seen): Closure {
            return static function (JobInterface $job, callable $next) use (&$seen, $where): mixed {
                $seen[] = "$where $job->id";

                return $next($job);
            };
        };
        $recorder = new Recorder(static fn (): bool => true);
        $params = static function (mixed $params, JobInterface $job) use (&$seen): void {
            $seen[] = "params {$params['n']} of $job->id";
        };
        $router = new TaskRouter([
            'inside' => new Pipeline($params, $see('task of')),
            'told' => new Pipeline($recorder, $see('task of')),
            'plain' => static fn (): bool => true,
        ]);
        $queue = $this->delayQueue();
        foreach (['inside', 'told', 'plain'] as $task) {
            $queue->push(['task' => $task, 'params' => ['n' => 7]], id: $task);
        }
        $this->runDueJobs(new Pipeline($router, $see('router of')), $queue);

        $this->assertSame(['router of inside', 'task of inside', 'params 7 of inside', 'router of told', 'task of told', 'router of plain'], $seen);
        $this->assertSame(['attempt 1', 'told succeeded'], $recorder->notes);
        $this->assertCount(0, $queue);
    }
}
