<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Middleware;

use DelayQueue\Flow\Chain;
use DelayQueue\JobInterface;
use DelayQueue\Middleware\Pipeline;
use DelayQueue\Tests\OnAnyStore;
use DelayQueue\Worker\TaskRouter;
use PHPUnit\Framework\TestCase;
use RuntimeException;

final class ChainMiddlewareTest extends TestCase
{
    use OnAnyStore;

    public function testMiddlewareThatThrowsAfterTheHandlerHoldsUpTheChain(): void
    {
        $queue = $this->delayQueue();
        Chain::of(['payload' => ['task' => 'a']], ['payload' => ['task' => 'b']])->push($queue);
        $seen = [];
        $commits = false;
        $commit = static function (JobInterface $job, callable $next) use (&$commits): mixed {
            $result = $next($job);

            return $commits ? $result : throw new RuntimeException('no commit');
        };
        $note = static function (mixed $params, JobInterface $job) use (&$seen): string {
            $seen[] = [$job->payload['task'], Chain::result($job)];

            return "result of {$job->payload['task']}";
        };
        $handler = new Pipeline(new TaskRouter(['a' => $note, 'b' => new Pipeline($note, $commit)]), $commit);

        $this->runDueJobs($handler, $queue);
        $this->assertSame([['a', null]], $seen, 'the next link waits');

        $commits = true;
        $this->travel('1m');
        $this->runDueJobs($handler, $queue);
        $this->assertSame([['a', null], ['a', null], ['b', 'result of a']], $seen);
    }
}
