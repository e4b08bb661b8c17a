<?php

declare(strict_types=1);

namespace DelayQueue\Tests\CommandLine;

use DelayQueue\State;
use DelayQueue\Tests\Support\CliTestCase;

/** A handler file that returns a Pipeline. */
final class CliMiddlewareTest extends CliTestCase
{
    public function testAHandlerFileMayReturnAPipeline(): void
    {
        $file = $this->file('handler.php', <<<'PHP'
            <?php
            use DelayQueue\Middleware\{CircuitBreaker, DontRetry, Pipeline};
            use DelayQueue\Tracing\Trace;
            use DelayQueue\Worker\TaskRouter;

            $router = new TaskRouter([
                'greet' => function (string $name, $job) {
                    $isTraced = Trace::headers()['traceparent'] === $job->headers['traceparent'];
                    fwrite(STDERR, "hello $name " . ($isTraced ? 'traced' : 'lost') . "\n");
                },
                'pay' => function () { throw new RuntimeException('the bank is down'); },
                'bad' => function () { throw new DomainException('no such order'); },
            ]);
            $breaker = new CircuitBreaker(1, within: '1m', pause: '1h', of: [RuntimeException::class]);
            return new Pipeline($router, new Trace(), $breaker, new DontRetry(LogicException::class));
            PHP);
        $queue = $this->queue();
        $headers = ['traceparent' => '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'];
        foreach (['pay', 'pay', 'bad', 'greet'] as $n => $task) {
            $queue->push(['task' => $task, 'params' => 'Ada'], id: "$task-$n", headers: $headers);
        }
        $result = $this->cli('work', $file, '--stop-when-empty', '--log=json');

        $this->assertSame(0, $result->exitCode, $result->errors);
        $this->assertStringContainsString("hello Ada traced\n", $result->errors);
        $lines = array_map(static fn (string $line): array => json_decode($line, true, flags: JSON_THROW_ON_ERROR), explode("\n", trim($result->output)));
        $this->assertSame(
            ['pay-0' => 'failed', 'pay-1' => 'released', 'bad-2' => 'buried', 'greet-3' => 'done'],
            array_column(array_filter($lines, static fn (array $line): bool => isset($line['id'])), 'outcome', 'id'),
        );
        $this->assertSame([State::Delayed, 0], [$queue->peek('pay-1')?->state, $queue->peek('pay-1')?->attempts]);
        $this->assertStringStartsWith('DomainException: no such order in ', (string) $queue->peek('bad-2')?->lastError);
    }
}
