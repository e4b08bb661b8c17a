<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Worker;

use ArrayObject;
use Closure;
use DelayQueue\Job;
use DelayQueue\JobInterface;
use DelayQueue\Middleware\Pipeline;
use DelayQueue\QueueInterface;
use DelayQueue\Tests\Queue\Handlers;
use DelayQueue\Worker\HandlerObject;
use DelayQueue\Worker\TaskRouter;
use InvalidArgumentException;
use PHPUnit\Framework\TestCase;
use Psr\Container\ContainerInterface;

/** Which handlers can be called with a job, and which are refused before the first one. */
final class SignatureTest extends TestCase
{
    /** @dataProvider wrong */
    #[\PHPUnit\Framework\Attributes\DataProvider('wrong')]
    public function testAHandlerThatCannotBeCalledIsRefused(Closure $make, string $words): void
    {
        try {
            $make();
        } catch (InvalidArgumentException $error) {
            $this->assertStringEndsWith($words, $error->getMessage());

            return;
        }
        $this->fail('it was taken');
    }

    /** @return array<string, array{Closure, string}> */
    public static function wrong(): array
    {
        $object = new class () {
            public function handle(string $order): void
            {
            }
        };
        $needy = new class () {
            public function __invoke(Job $job, QueueInterface $queue, int $more): void
            {
            }
        };
        $own = new class () {
            public function handle(self $other): void
            {
            }
        };
        $container = new class () implements ContainerInterface {
            public function get(string $id): mixed
            {
                return new $id();
            }

            public function has(string $id): bool
            {
                return true;
            }
        };
        $job = 'gets a DelayQueue\JobInterface';

        $closure = static fn (Closure $handler, string $words): array => [static fn () => new HandlerObject(new Pipeline($handler)), $words];

        return [
            'an array' => $closure(static fn (?array $payload) => 1, "the parameter ?array \$payload of the handler $job"),
            'a union without a job' => $closure(static fn (int|string $id) => 1, $job),
            'another class' => $closure(static fn (ArrayObject $job) => 1, $job),
            'a class that is not there' => $closure(static fn (\Jobb $job) => 1, "the parameter Jobb \$job of the handler $job"),
            'no queue' => $closure(static fn (Job $job, array $options) => 1, 'gets a DelayQueue\QueueInterface'),
            'variadic' => $closure(static fn (Job ...$all) => 1, 'gets a DelayQueue\QueueInterface'),
            'three arguments' => $closure(static fn ($job, $queue, $more) => 1, 'the handler needs 3 arguments, and gets 2'),
            'more than a job' => $closure(static fn (JobInterface&\Stringable $job) => 1, $job),
            'of PHP, with one parameter' => $closure(is_object(...), 'the handler takes 1 argument, and gets 2'),
            'of PHP' => $closure(trim(...), "the parameter string \$string of the handler $job"),
            'four arguments of a task' => [static fn () => new TaskRouter(['close' => static fn ($a, $b, $c, $d) => 1]), "the handler of task 'close' needs 4 arguments, and gets 3"],
            'an object' => [static fn () => new HandlerObject($object), "the parameter string \$order of the handler $job"],
            'too many arguments' => [static fn () => new HandlerObject($needy), 'the handler needs 3 arguments, and gets 2'],
            'a class of its own' => [static fn () => new HandlerObject($own), "the parameter self \$other of the handler $job"],
            'a closure in a pipeline' => [static fn () => new HandlerObject(new Pipeline(static fn (int $id) => 1)), "the parameter int \$id of the handler $job"],
            'a task' => [
                static fn () => new TaskRouter(['close' => static fn (QueueInterface $queue) => 1]),
                "\$queue of the handler of task 'close' gets the params of the task; the job is the second argument",
            ],
            'the second argument of a task' => [
                static fn () => new TaskRouter(['close' => static fn (array $params, QueueInterface $queue) => 1]),
                "\$queue of the handler of task 'close' $job",
            ],
            'the class of a task' => [static fn () => new TaskRouter(['close' => NeedsOrder::class]), "\$order of the handler of task 'close' $job"],
            'a class of the container' => [static fn () => new TaskRouter(['close' => NeedsOrder::class], $container), "\$order of the handler of task 'close' $job"],
            'an object that takes no list' => [
                static fn () => HandlerObject::many($object),
                'the parameter string $order of the handler gets a list of jobs',
            ],
        ];
    }

    public function testAHandlerThatCanBeCalledIsTaken(): void
    {
        $handlers = [...Handlers::takingJobs(), var_dump(...)];
        foreach ($handlers as $handler) {
            new HandlerObject(new Pipeline($handler));
        }
        $tasks = ['scalar' => static fn (string $order) => 1, 'made by an upcaster' => static fn (ArrayObject $order, Job $job, QueueInterface $queue) => 1,
            'class' => Closing::class];
        new TaskRouter($tasks);
        $this->addToAssertionCount(count($handlers) + count($tasks));
    }
}

final class NeedsOrder
{
    public function handle(array $params, string $order): void
    {
    }
}

final class Closing
{
    public function __invoke(int $order, JobInterface $job): void
    {
    }
}
