<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Worker;

use DelayQueue\OnDuplicate;
use DelayQueue\Testing;
use DelayQueue\Tests\OnAnyStore;
use DelayQueue\Worker\TaskRouter;
use InvalidArgumentException;
use PHPUnit\Framework\TestCase;
use RuntimeException;
use WeakReference;

/** Jobs that waited through a deploy. */
final class VersionsTest extends TestCase
{
    use OnAnyStore;

    /** @var list<mixed> */
    private array $seen = [];

    public function testAJobOfAnOldNameReachesTheTask(): void
    {
        $router = $this->router(aliases: ['close' => 'close-it', 'close-it' => 'close-order', 'end' => 'close-order']);
        foreach (['close', 'close-it', 'end', 'close-order'] as $name) {
            $this->delayQueue()->push(['task' => $name, 'params' => $name]);
        }
        $this->runDueJobs($router);
        $this->assertSame(['close', 'close-it', 'end', 'close-order'], $this->seen);
        $this->assertQueueEmpty();
    }

    public function testEachUpcasterMakesTheParamsOfTheNextVersion(): void
    {
        $router = $this->router(['close' => 'close-order'], ['close-order' => [
            2 => static fn (array $params): array => $params + ['shop' => 'de'],
            1 => static fn (int $order): array => ['order' => $order],
        ]]);
        $queue = $this->delayQueue();
        $queue->push(['task' => 'close-order', 'params' => 1]);
        $queue->push(['task' => 'close', 'params' => 2, 'version' => 1]);
        $queue->push(['task' => 'close-order', 'params' => ['order' => 3], 'version' => 2]);
        $queue->push(['task' => 'close-order', 'params' => ['order' => 4, 'shop' => 'fr'], 'version' => 3]);
        $this->runDueJobs($router);
        $expected = [['order' => 1, 'shop' => 'de'], ['order' => 2, 'shop' => 'de'], ['order' => 3, 'shop' => 'de'], ['order' => 4, 'shop' => 'fr']];
        $this->assertSame($expected, $this->seen);
    }

    public function testAJobWithoutParamsIsUpcastFromNull(): void
    {
        $this->delayQueue()->push(['task' => 'close-order']);
        $this->runDueJobs($this->router(upcasters: ['close-order' => [1 => static fn (mixed $params): string => get_debug_type($params)]]));
        $this->assertSame(['null'], $this->seen);
    }

    public function testAJobOfANewerVersionWaitsForANewerWorkerAndIsBuriedIfNoneComes(): void
    {
        $queue = $this->delayQueue();
        foreach (['a', 'b'] as $id) {
            $queue->push(['task' => 'close-order', 'params' => ['order' => 1], 'version' => 2], id: $id, maxAttempts: 3);
        }
        $this->runDueJobs($this->router());
        $info = $queue->peek('a');
        $this->assertEqualsWithDelta(30, $info->dueAt - $queue->now(), 5);
        $this->assertSame([[], "task 'close-order' has version 2, this worker knows version 1"], [$this->seen, $info->lastError]);

        $this->travel('31s');
        $new = $this->router(upcasters: ['close-order' => [1 => static fn (int $order): array => ['order' => $order]]]);
        $queue->reserveJob('b')->release('1h', countAttempt: false);
        $this->assertSame(1, $this->runDueJobs($new));
        $this->assertSame([['order' => 1]], $this->seen);

        foreach (['1h', '31s'] as $time) {
            $this->travel($time);
            $this->runDueJobs($this->router());
        }
        $this->assertBuried('b', reason: "task 'close-order' has version 2, this worker knows version 1");
    }

    public function testAVersionThatIsKnownNoMoreIsBuried(): void
    {
        $this->delayQueue()->push(['task' => 'close-order', 'version' => 2], id: 'a');
        $this->runDueJobs($this->router(upcasters: ['close-order' => [3 => strval(...), 4 => strval(...)]]));
        $this->assertBuried('a', reason: "task 'close-order' has version 2, this worker knows versions 3 to 5");
    }

    public function testAJobWithAWrongVersionIsBuried(): void
    {
        foreach (['0' => 0, '-1' => -1, '"2"' => '2', '1.0' => 1.0, '[]' => []] as $text => $version) {
            $this->delayQueue()->push(['task' => 'close-order', 'version' => $version], id: 'a', onDuplicate: OnDuplicate::Replace);
            $this->runDueJobs($this->router());
            $this->assertBuried('a', reason: "the version of the payload is not a positive integer: $text");
        }
        $this->assertSame([], $this->seen);
    }

    public function testAnUpcasterThatThrowsFailsTheJob(): void
    {
        $this->delayQueue()->push(['task' => 'close-order'], id: 'a');
        $this->runDueJobs($this->router(upcasters: ['close-order' => [1 => static fn () => throw new RuntimeException('no such order')]]));
        $this->assertStringContainsString('no such order', (string) $this->delayQueue()->peek('a')?->lastError);
    }

    public function testARouterIsFreedWithoutTheGarbageCollector(): void
    {
        $router = $this->router();
        $reference = WeakReference::create($router);
        unset($router);
        $this->assertNull($reference->get());
    }

    /** @return array<string, array{array<mixed>, array<mixed>, string}> aliases, upcasters, message */
    public static function mistakes(): array
    {
        $step = static fn (mixed $params): mixed => $params;

        return [
            'an alias of itself' => [['a' => 'a'], [], "the alias 'a' leads in a circle"],
            'a circle' => [['a' => 'b', 'b' => 'c', 'c' => 'a'], [], "the alias 'a' leads in a circle"],
            'into a circle' => [['x' => 'a', 'a' => 'b', 'b' => 'a'], [], "the alias 'x' leads in a circle"],
            'to nothing' => [['a' => 'b', 'b' => 'gone'], [], "the alias 'a' leads to task 'gone', which has no handler"],
            'a list' => [['close-order'], [], "the alias '0' is not the name of a task by another name: string"],
            'an array' => [['a' => ['close-order']], [], "the alias 'a' is not the name of a task by another name: array"],
            'a task for an alias' => [['close-order' => 'remind'], [], "the alias 'close-order' is a task with a handler"],
            'of no task' => [[], ['gone' => [1 => $step]], "there are upcasters of task 'gone', which has no handler"],
            'of an alias' => [['close' => 'close-order'], ['close' => [1 => $step]], "there are upcasters of task 'close', which has no handler"],
            'a gap' => [[], ['close-order' => [1 => $step, 3 => $step]], "the upcasters of task 'close-order' are not of one version after another: 1, 3"],
            'a list' => [[], ['close-order' => [$step]], "the upcasters of task 'close-order' are not of one version after another: 0"],
            'names' => [[], ['close-order' => ['v1' => $step]], "the upcasters of task 'close-order' are not of one version after another: v1"],
            'none' => [[], ['close-order' => []], "the upcasters of task 'close-order' are not an array of callables by versions"],
            'one alone' => [[], ['close-order' => $step], "the upcasters of task 'close-order' are not an array of callables by versions"],
            'no callable' => [[], ['close-order' => [1 => 'nothing']], "the upcaster of version 1 of task 'close-order' is not callable: string"],
        ];
    }

    /**
     * @dataProvider mistakes
     *
     * @param array<mixed> $aliases
     * @param array<mixed> $upcasters
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('mistakes')]
    public function testAMistakeIsRefusedAtOnce(array $aliases, array $upcasters, string $message): void
    {
        $this->expectException(InvalidArgumentException::class);
        $this->expectExceptionMessage($message);
        $this->router($aliases, $upcasters);
    }

    public function testARouterNamesTheTasksOfJobsThatItKnows(): void
    {
        $router = $this->router(['close' => 'close-order']);
        $name = static fn (mixed $payload): ?string => $router->taskOf(Testing::job($payload));
        $this->assertSame(
            ['close-order', 'close-order', null, null, null],
            array_map($name, [['task' => 'close-order'], ['task' => 'close'], ['task' => 'other'], ['task' => 1], 'none']),
        );
    }

    /**
     * @param array<mixed> $aliases
     * @param array<mixed> $upcasters
     */
    private function router(array $aliases = [], array $upcasters = []): TaskRouter
    {
        $handler = function (mixed $params): void {
            $this->seen[] = $params;
        };

        return new TaskRouter(['close-order' => $handler, 'remind' => $handler], aliases: $aliases, upcasters: $upcasters);
    }
}
