<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Queue;

use DateTimeImmutable;
use DelayQueue\Job;
use DelayQueue\OnDuplicate;
use DelayQueue\QueueInterface;

/** Refusals, and their words: nothing is stored then. */
final class ErrorTest extends QueueCase
{
    /** @return array<string, array{callable(QueueInterface): mixed, string}> */
    public static function wrongArguments(): array
    {
        return [
            'a timeout' => [static fn ($q) => $q->push(1, timeout: -5), 'ValueError: push(): Argument #8 ($timeout) must be greater than or equal to 0'],
            'a large payload' => [static fn ($q) => $q->push(str_repeat('x', 2 << 20)), 'PayloadException: the payload of 2097154 bytes is larger than maxPayload (1048576 bytes)'],
            'an id taken for no time' => [static fn ($q) => $q->push(1, id: 'a', unique: 0), 'ValueError: push(): Argument #11 ($unique) must be greater than 0'],
            'an id taken for too long' => [static fn ($q) => $q->push(1, id: 'a', unique: '36600d'), 'ValueError: push(): Argument #11 ($unique) must be at most 100 years'],
            'an id taken for less than no time' => [static fn ($q) => $q->push(1, id: 'a', unique: -1), 'ValueError: push(): Argument #11 ($unique) must be greater than or equal to 0'],
            'unique until a Unix time' => [static fn ($q) => $q->push(1, id: 'a', unique: 1_800_000_000), 'ValueError: push(): Argument #11 ($unique) must be a delay, and 1800000000 looks like a Unix time: for a moment give 1800000000 - time()'],
            'unique without an id' => [static fn ($q) => $q->push(1, unique: 60), 'ValueError: push(): Argument #11 ($unique) must not be given without an id'],
            'no longest wait' => [static fn ($q) => $q->push(1, id: 'a', onDuplicate: OnDuplicate::Replace, maxWait: 0), 'ValueError: push(): Argument #12 ($maxWait) must be greater than 0'],
            'a negative longest wait' => [static fn ($q) => $q->push(1, id: 'a', onDuplicate: OnDuplicate::Replace, maxWait: '-1s'), 'ValueError: push(): Argument #12 ($maxWait) must be greater than or equal to 0'],
            'a longest wait of what is not replaced' => [static fn ($q) => $q->push(1, id: 'a', maxWait: 60), 'ValueError: push(): Argument #12 ($maxWait) must not be given without an id and OnDuplicate::Replace'],
            'a longest wait without an id' => [static fn ($q) => $q->push(1, onDuplicate: OnDuplicate::Replace, maxWait: 60), 'ValueError: push(): Argument #12 ($maxWait) must not be given without an id and OnDuplicate::Replace'],
            'an end before the beginning' => [static fn ($q) => $q->push(1, expires: -0.1), 'ValueError: push(): Argument #13 ($expires) must be greater than or equal to 0'],
            'an end at the beginning' => [static fn ($q) => $q->push(1, expires: 0), 'ValueError: push(): Argument #13 ($expires) must be greater than 0'],
            'an end after ages' => [static fn ($q) => $q->push(1, expires: '40000d'), 'ValueError: push(): Argument #13 ($expires) must be at most 100 years'],
            'an end in ages' => [static fn ($q) => $q->push(1, expires: new DateTimeImmutable('+101 years')), 'ValueError: push(): Argument #13 ($expires) must be at most 100 years'],
            'an end at a Unix time' => [static fn ($q) => $q->push(1, expires: 1_800_000_000), "ValueError: push(): Argument #13 (\$expires) must be a delay, and 1800000000 looks like a Unix time: for a moment give a DateTimeInterface, such as new DateTimeImmutable('@1800000000')"],
            'retries that end before the beginning' => [static fn ($q) => $q->push(1, retryUntil: -1), 'ValueError: push(): Argument #15 ($retryUntil) must be greater than or equal to 0'],
            'retries for ages' => [static fn ($q) => $q->push(1, retryUntil: 3.2e9), 'ValueError: push(): Argument #15 ($retryUntil) must be at most 100 years'],
            'retries until a far moment' => [static fn ($q) => $q->push(1, retryUntil: new DateTimeImmutable('+101 years')), 'ValueError: push(): Argument #15 ($retryUntil) must be at most 100 years'],
            'two ends' => [static fn ($q) => $q->push(1, expires: '1h', retryUntil: '2h'), 'ValueError: push(): Argument #15 ($retryUntil) must not be given together with expires'],
            'a delay to try' => [static fn ($q) => $q->tryPush(1, -1), 'ValueError: tryPush(): Argument #2 ($delay) must be greater than or equal to 0'],
            'a payload to try' => [static fn ($q) => $q->tryPush(NAN), 'PayloadException: Inf and NaN cannot be JSON encoded'],
            'a try without an id' => [static fn ($q) => $q->tryPush(1, unique: 60), 'ValueError: tryPush(): Argument #11 ($unique) must not be given without an id'],
            'a delay to prepare' => [static fn ($q) => $q->prepare(1, -1), 'ValueError: prepare(): Argument #2 ($delay) must be greater than or equal to 0'],
            'a payload to prepare' => [static fn ($q) => $q->prepare(NAN), 'PayloadException: Inf and NaN cannot be JSON encoded'],
            'the age of receipts' => [static fn ($q) => $q->receipts(-1), 'ValueError: receipts(): Argument #1 ($olderThan) must be greater than or equal to 0'],
            'no age of receipts' => [static fn ($q) => $q->receipts('soon'), 'ValueError: receipts(): Argument #1 ($olderThan) must be a number of seconds or a duration such as "500ms", "15m", "2h30m", "1d" or "PT15M"'],
            'a Unix time as age of receipts' => [static fn ($q) => $q->receipts(1_800_000_000), 'ValueError: receipts(): Argument #1 ($olderThan) must be a delay, and 1800000000 looks like a Unix time: for a moment give 1800000000 - time()'],
            'jobs that are none' => [static fn ($q) => $q->pushOnce('x'), 'TypeError: pushOnce(): Argument #1 ($jobs) must be of type Traversable|array, string given'],
            'a number of receipts' => [static fn ($q) => $q->receipts(limit: 0), 'ValueError: receipts(): Argument #3 ($limit) must be greater than or equal to 1'],
            'a receipt to forget' => [static fn ($q) => $q->forgetReceipts('r', ''), 'ValueError: forgetReceipts(): Argument #2 must be between 1 and 200 bytes long'],
            'a member' => [static fn ($q) => $q->producer('', 1, []), 'ValueError: producer(): Argument #1 ($member) must be between 1 and 200 bytes long'],
            'a limit' => [static fn ($q) => $q->consumer(limit: 0), 'ValueError: consumer(): Argument #2 ($limit) must be greater than or equal to 1'],
            'no jobs' => [static fn ($q) => $q->reserveMany(0), 'ValueError: reserveMany(): Argument #1 ($max) must be greater than or equal to 1'],
            'a job to reserve' => [static fn ($q) => $q->reserveJob(''), 'ValueError: reserveJob(): Argument #1 ($id) must be between 1 and 200 bytes long'],
            'a job to look at' => [static fn ($q) => $q->peek(''), 'ValueError: peek(): Argument #1 ($id) must be between 1 and 200 bytes long'],
            'a job to kick' => [static fn ($q) => $q->kickJob("\t"), 'ValueError: kickJob(): Argument #1 ($id) must not contain control characters'],
            'a new payload' => [static fn ($q) => $q->update('a', NAN), 'PayloadException: Inf and NaN cannot be JSON encoded'],
            'an offset' => [static fn ($q) => $q->list(\DelayQueue\State::Ready, -1), 'ValueError: list(): Argument #2 ($offset) must be greater than or equal to 0'],
            'a page' => [static fn ($q) => $q->list(\DelayQueue\State::Ready, 0, 0), 'ValueError: list(): Argument #3 ($limit) must be greater than or equal to 1'],
            'the name of a sibling' => [static fn ($q) => $q->sibling('a b'), 'ValueError: sibling(): Argument #1 ($queue) must be 1 to 200 bytes of [A-Za-z0-9._:-]'],
            'an option of a sibling' => [static fn ($q) => $q->sibling('a', ['ttr' => 0]), 'ValueError: sibling(): Option "ttr" must be between 0.1 seconds and 30 days'],
            'an unknown option of a sibling' => [static fn ($q) => $q->sibling('a', ['prefx' => 1]), 'ValueError: sibling(): Argument #2 ($options) has the unknown option "prefx"; did you mean \'prefix\'?'],
            'a sibling of some replicas' => [static fn ($q) => $q->sibling('a', ['replicas' => 2]), 'ValueError: sibling(): Option "replicas" must not be given without durability "replica"'],
            'none to kick' => [static fn ($q) => $q->kick(0), 'ValueError: kick(): Argument #1 ($max) must be greater than or equal to 1'],
            'a negative limit' => [
                static fn ($q) => $q->drain('var_dump', -1),
                'ValueError: drain(): Argument #2 ($limit) must be greater than or equal to 0',
            ],
            ...self::wrongHandlers(),
            'no idle time' => [
                static fn ($q) => $q->consume('var_dump', idleTimeout: 0),
                'ValueError: consume(): Argument #2 ($idleTimeout) must be greater than 0',
            ],
            'a negative number of jobs' => [
                static fn ($q) => $q->consume('var_dump', maxJobs: -1),
                'ValueError: consume(): Argument #3 ($maxJobs) must be greater than or equal to 0',
            ],
            'a negative time' => [
                static fn ($q) => $q->consume('var_dump', maxTime: -1),
                'ValueError: consume(): Argument #4 ($maxTime) must be greater than or equal to 0',
            ],
            'an amount of memory' => [
                static fn ($q) => $q->consume('var_dump', memoryLimit: 'much'),
                'ValueError: consume(): Argument #5 ($memoryLimit) must be a number of bytes, '
                    . 'such as 134217728 or "128M"',
            ],
            'a large prefetch' => [
                static fn ($q) => $q->consume('var_dump', prefetch: 501),
                'ValueError: consume(): Argument #7 ($prefetch) must be between 1 and 500',
            ],
            'no prefetch' => [
                static fn ($q) => $q->consume('var_dump', prefetch: 0),
                'ValueError: consume(): Argument #7 ($prefetch) must be between 1 and 500',
            ],
            'a handler timeout' => [
                static fn ($q) => $q->consume('var_dump', timeout: -1),
                'ValueError: consume(): Argument #8 ($timeout) must be greater than or equal to 0',
            ],
            'a shutdown timeout' => [
                static fn ($q) => $q->consume('var_dump', shutdownTimeout: -1),
                'ValueError: consume(): Argument #12 ($shutdownTimeout) must be greater than or equal to 0',
            ],
            'a shutdown timeout beyond a hundred years' => [
                static fn ($q) => $q->consume('var_dump', shutdownTimeout: 3_200_000_000),
                'ValueError: consume(): Argument #12 ($shutdownTimeout) must be at most 100 years',
            ],
        ];
    }

    /** @return iterable<string, array{callable(QueueInterface): mixed, string}> */
    private static function wrongHandlers(): iterable
    {
        $a = 'gets a DelayQueue\JobInterface';
        $magic = new class () {
            public function handle(self $job): void
            {
            }

            public function __invoke(Job $job, self|string|null $queue): void
            {
            }
        };
        $handlers = [
            'of a string' => [static fn (string $x) => 1, "the parameter string \$x of it $a"],
            'of a string or nothing' => [static fn (?string $x = null) => 1, "the parameter ?string \$x of it $a"],
            'of a union without a job' => [static fn (int|string $x) => 1, "the parameter string|int \$x of it $a"],
            'of another class' => [static fn (\ArrayObject $x) => 1, "the parameter ArrayObject \$x of it $a"],
            'of a class that is not there' => [static fn (\Jobb $x) => 1, "the parameter Jobb \$x of it $a"],
            'of more than a job' => [
                static fn (Job&\Iterator $x) => 1,
                "the parameter DelayQueue\Job&Iterator \$x of it $a",
            ],
            'of a queue alone' => [
                static fn (QueueInterface $x) => 1,
                "the parameter DelayQueue\QueueInterface \$x of it $a",
            ],
            'of its own class' => [[$magic, 'handle'], "the parameter self \$job of it $a"],
            'of its own class, as a closure' => [$magic->handle(...), "the parameter self \$job of it $a"],
            'with another second argument' => [
                $magic,
                'the parameter self|string|null $queue of it gets a DelayQueue\QueueInterface',
            ],
            'of jobs alone' => [
                static fn (Job ...$jobs) => 1,
                'the parameter DelayQueue\Job $jobs of it gets a DelayQueue\QueueInterface',
            ],
            'by reference' => [static fn (&$job) => 1, 'the parameter $job of it is taken by reference'],
            'of a queue by reference' => [
                static fn ($job, &$queue) => 1,
                'the parameter $queue of it is taken by reference',
            ],
            'of three arguments' => [static fn ($job, $queue, $more) => 1, 'it needs 3 arguments, and gets 2'],
            'of PHP' => ['trim', "the parameter string \$string of it $a"],
            'of PHP, with one parameter' => [is_object(...), 'it takes 1 argument, and gets 2'],
        ];
        foreach ($handlers as $what => [$handler, $words]) {
            foreach (['consume', 'drain'] as $method) {
                $error = "TypeError: $method(): Argument #1 (\$handler) must take a job, and a queue: $words";
                yield "$method() with a handler $what" => [static fn ($q) => $q->$method($handler), $error];
            }
        }
    }

    public function testAHandlerThatTakesAJobIsTaken(): void
    {
        [$queue, $handlers] = [$this->queue(), Handlers::takingJobs()];
        foreach ($handlers as $handler) {
            $queue->push(1);
            $this->assertSame(1, $queue->drain($handler));
        }
        $this->assertSame([count($handlers), 0], [$queue->stats()->acked, $queue->count()]);
    }

    /**
     * @dataProvider wrongArguments
     *
     * @param callable(QueueInterface): mixed $call
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('wrongArguments')]
    public function testAWrongArgumentIsRefusedBeforeAnythingIsSent(callable $call, string $words): void
    {
        $this->assertSame($words, self::thrown(static fn () => $call(self::nowhere())));
    }

    /** @return array<string, array{callable(\DelayQueue\JobInterface): mixed, string}> */
    public static function wrongCalls(): array
    {
        return [
            'a delay' => [static fn ($job) => $job->release(-1), 'ValueError: DelayQueue\Job::release(): Argument #1 ($delay) must be greater than or equal to 0'],
            'a priority' => [static fn ($job) => $job->release(0, -1), 'ValueError: DelayQueue\Job::release(): Argument #2 ($priority) must be between 0 and 4294967295'],
            'a TTR' => [static fn ($job) => $job->touch(0), 'ValueError: DelayQueue\Job::touch(): Argument #1 ($ttr) must be between 0.1 seconds and 30 days'],
            'a limit' => [static fn ($job) => $job->keepAlive(0), 'ValueError: DelayQueue\Job::keepAlive(): Argument #1 ($atMost) must be greater than 0'],
            'a payload' => [static fn ($job) => $job->update(NAN), 'PayloadException: Inf and NaN cannot be JSON encoded'],
        ];
    }

    /**
     * @dataProvider wrongCalls
     *
     * @param callable(\DelayQueue\JobInterface): mixed $call
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('wrongCalls')]
    public function testAWrongCallLeavesAJobAsItIs(callable $call, string $words): void
    {
        $this->queue()->push('a');
        $job = $this->queue()->reserve();

        $this->assertSame($words, self::thrown(static fn () => $call($job)));
        $this->assertFalse($job->isSettled());
        $job->ack();
    }
}
