<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Worker;

use ArrayObject;
use DelayQueue;
use DelayQueue\Backoff;
use DelayQueue\Job;
use DelayQueue\Tests\OnAnyStore;
use DelayQueue\Worker\TaskRouter;
use InvalidArgumentException;
use PHPUnit\Framework\TestCase;
use Psr\Container\ContainerInterface;
use RuntimeException;
use Symfony\Contracts\Service\ServiceLocatorTrait;

final class TaskRouterTest extends TestCase
{
    use OnAnyStore;

    public function testATaskGoesToTheCallableOfItsName(): void
    {
        $calls = [];
        $router = new TaskRouter([
            'close' => static function (mixed ...$arguments) use (&$calls): void {
                $calls[] = ['close', ...$arguments];
            },
            'remind' => static function (mixed ...$arguments) use (&$calls): void {
                $calls[] = ['remind', ...$arguments];
            },
        ]);
        $queue = $this->delayQueue();
        $queue->push(['task' => 'remind', 'params' => ['person' => 'alice']], id: 'a');
        $queue->push(['task' => 'close'], id: 'b');

        $this->assertSame(2, $this->runDueJobs($router, $queue));

        [[$first, $params, $job, $from], [$second, $none]] = $calls;
        $this->assertSame(['remind', ['person' => 'alice'], 'close', null], [$first, $params, $second, $none]);
        $this->assertInstanceOf(Job::class, $job);
        $this->assertSame(['a', $queue], [$job->id, $from]);
        $this->assertQueueEmpty();
    }

    public function testAHandlerAndItsHooksSeeTheHeaders(): void
    {
        $handler = new class () {
            /** @var list<array<string>> */
            public array $seen = [];

            public function handle(mixed $params, Job $job): void
            {
                $this->seen[] = $job->headers;
            }

            public function afterSucceeded(Job $job): void
            {
                $this->seen[] = $job->headers;
            }
        };
        $this->delayQueue()->push(['task' => 'close'], headers: ['tenant' => 'acme']);

        $this->runDueJobs(new TaskRouter(['close' => $handler]));

        $this->assertSame([['tenant' => 'acme'], ['tenant' => 'acme']], $handler->seen);
    }

    public function testServicesComeFromTheContainerWhenTheyAreNeeded(): void
    {
        $made = new ArrayObject();
        $container = self::container([
            'mailer' => static function () use ($made): Recorder {
                return $made[] = new Recorder(static fn (): bool => true);
            },
            'secret' => static fn () => throw new RuntimeException('reached'),
        ]);
        $router = new TaskRouter(['remind' => 'mailer'], $container);
        $this->assertCount(0, $made);

        $queue = $this->delayQueue();
        $queue->push(['task' => 'remind'], id: 'a');
        $queue->push(['task' => 'secret'], id: 'b');
        $this->runDueJobs($router, $queue);

        $this->assertSame([['attempt 1', 'a succeeded']], array_column((array) $made, 'notes'));
        $this->assertBuried('b', reason: "unknown task 'secret', known here: remind");
    }

    public function testAServiceThatCannotBeMadeIsTriedAgain(): void
    {
        $container = self::container(['mailer' => static fn () => throw new RuntimeException('no database')]);
        $queue = $this->delayQueue(options: ['backoff' => Backoff::fixed('1m')]);
        $queue->push(['task' => 'remind'], id: 'a');

        $this->runDueJobs(new TaskRouter(['remind' => 'mailer'], $container), $queue);

        $this->assertDelayed('a');
        $this->assertStringContainsString('no database', (string) $queue->peek('a')?->lastError);
    }

    public function testWithoutAContainerAClassIsMadeOnce(): void
    {
        Counter::$made = 0;
        $router = new TaskRouter(['count' => Counter::class]);
        $queue = $this->delayQueue();
        $queue->pushMany([['payload' => ['task' => 'count']], ['payload' => ['task' => 'count']]]);

        $this->assertSame(2, $this->runDueJobs($router, $queue));

        $this->assertSame([1, 2], [Counter::$made, Counter::$called]);
    }

    public function testEachHandlerObjectHearsOfItsOwnJobs(): void
    {
        $good = new Recorder(static fn (): bool => true);
        $bad = new Recorder(static fn () => throw new RuntimeException('no bank'));
        $router = new TaskRouter(['good' => $good, 'bad' => [$bad, 'handle'], 'plain' => static fn (): bool => true]);
        $queue = $this->delayQueue(options: ['maxAttempts' => 2, 'backoff' => Backoff::fixed(0)]);
        foreach (['good', 'bad', 'plain', 'good'] as $number => $task) {
            $queue->push(['task' => $task], id: "$task-$number");
        }

        $this->runDueJobs($router, $queue);

        $this->assertSame(['attempt 1', 'good-0 succeeded', 'attempt 1', 'good-3 succeeded'], $good->notes);
        $this->assertSame(['attempt 1', 'attempt 2', 'bad-1 failed: no bank'], $bad->notes);
    }

    /** @return array<string, array{mixed, string}> */
    public static function wrongPayloads(): array
    {
        $shape = 'the payload is not {task: string, params}: ';

        return [
            'unknown task' => [['task' => 'clsoe', 'params' => 1], "unknown task 'clsoe', known here: close, remind"],
            'a long name' => [['task' => str_repeat("x\n", 1000)], "unknown task '" . str_repeat('x ', 49) . "x…', known here: close"],
            'no task' => [['params' => 1], $shape . '{"params":1}'],
            'a number' => [['task' => 7], $shape . '{"task":7}'],
            'text' => ['close', $shape . '"close"'],
            'nothing' => [null, $shape . 'null'],
        ];
    }

    /** @dataProvider wrongPayloads */
    #[\PHPUnit\Framework\Attributes\DataProvider('wrongPayloads')]
    public function testAJobThatIsNoKnownTaskIsBuriedWithItsReason(mixed $payload, string $reason): void
    {
        $this->delayQueue()->push($payload, id: 'a');
        $never = static fn () => throw new RuntimeException('called');

        $this->runDueJobs(new TaskRouter(['close' => $never, 'remind' => $never]));

        $this->assertBuried('a', reason: $reason);
    }

    /** @return array<string, array{mixed, string}> */
    public static function wrongHandlers(): array
    {
        return [
            'a name' => ['Nowhere', "the handler of task 'close' is neither a service, nor a class, nor callable: Nowhere"],
            'an object' => [new ArrayObject(), "the handler of task 'close' is neither callable nor an object with handle(): ArrayObject"],
            'null' => [null, "the handler of task 'close' is neither callable nor an object with handle(): null"],
        ];
    }

    /** @dataProvider wrongHandlers */
    #[\PHPUnit\Framework\Attributes\DataProvider('wrongHandlers')]
    public function testAHandlerThatCannotBeCalledIsRefusedAtOnce(mixed $handler, string $message): void
    {
        $this->expectException(InvalidArgumentException::class);
        $this->expectExceptionMessage($message);
        new TaskRouter(['close' => $handler], self::container([]));
    }

    /** @param array<string, callable> $factories */
    private static function container(array $factories): ContainerInterface
    {
        return new class ($factories) implements ContainerInterface {
            use ServiceLocatorTrait;
        };
    }
}
