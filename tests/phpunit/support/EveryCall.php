<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Support;

use ArrayIterator;
use DateInterval;
use DateTimeImmutable;
use DelayQueue;
use DelayQueue\Backoff;
use DelayQueue\Bury;
use DelayQueue\Job;
use DelayQueue\OnDuplicate;
use DelayQueue\Release;
use DelayQueue\State;
use DelayQueue\Stats;
use DelayQueue\Testing;
use DelayQueue\WorkerOrder;
use LogicException;
use ReflectionClass;
use ReflectionMethod;
use RuntimeException;
use Throwable;

/**
 * A call of every method of every class of the extension, right and wrong ones, each of which leaves things as it
 * found them: they can be repeated for ever. Names begin with Class::method.
 */
final class EveryCall
{
    use GroupCalls;
    use HandlingCalls;
    use OnceCalls;

    private DelayQueue $queue;

    private DelayQueue $raw;

    private DelayQueue $offline;

    private DelayQueue $empty;

    private DelayQueue $held;

    private ?RedisClient $client = null;

    public function __construct(private readonly string $dsn)
    {
        $this->queue = new DelayQueue('calls', $dsn, ['readTimeout' => 20]);
        $this->raw = new DelayQueue('raw', $dsn, ['readTimeout' => 20, 'format' => 'raw', 'maxPayload' => 1000]);
        $this->empty = new DelayQueue('empty', $dsn, ['readTimeout' => 20]);
        $this->held = new DelayQueue('held', $dsn, ['readTimeout' => 20]);
        $this->offline = new DelayQueue('offline', 'redis+unix:///nonexistent/redis.sock');
        // Some jobs of each kind to look at.
        $looked = new DelayQueue('looked', $dsn, ['readTimeout' => 20]);
        $looked->pushMany(array_map(static fn (int $n) => ['payload' => ['n' => $n], 'id' => "job-$n", 'delay' => $n % 2 * 3600], range(1, 20)));
        $looked->reserve()->bury(new RuntimeException('aside'));
        $looked->reserve();
    }

    /** @return array<string, callable(): void> */
    public function all(): array
    {
        return $this->construction() + $this->producing() + $this->arriving() + $this->consuming() + $this->settling() + $this->working()
            + $this->managing() + $this->grouping() + $this->values() + EveryTestCall::all($this->offline) + $this->mistakes();
    }

    /** @return list<string> methods that no call is named after */
    public function missing(): array
    {
        $named = array_map(static fn (string $name) => strtok($name, ' '), array_keys($this->all()));
        $missing = [];
        foreach (get_declared_classes() as $class) {
            if ((new ReflectionClass($class))->getExtensionName() !== 'delayqueue') {
                continue;
            }
            foreach ((new ReflectionClass($class))->getMethods(ReflectionMethod::IS_PUBLIC) as $method) {
                $ours = $method->isInternal() && $method->getDeclaringClass()->getExtensionName() === 'delayqueue';
                $name = "{$method->class}::{$method->name}";
                if ($ours && !enum_exists($class) && !in_array($name, $named, true)) {
                    $missing[] = $name;
                }
            }
        }

        return array_values(array_unique($missing));
    }

    /** @return array<string, callable(): void> */
    private function construction(): array
    {
        return [
            'DelayQueue::__construct' => fn () => new DelayQueue('name', $this->dsn, [
                'prefix' => 'p', 'ttr' => '30s', 'maxAttempts' => 3, 'backoff' => Backoff::fixed(1), 'priority' => 7,
                'format' => 'raw', 'maxPayload' => 100, 'connectTimeout' => 1.5, 'readTimeout' => 2, 'persistent' => false,
            ]),
            'DelayQueue::__construct with keys' => fn () => new DelayQueue('q', null, ['keys' => ['a' => str_repeat('a', 32), 7 => 'base64:' . base64_encode(str_repeat('b', 32))], 'signed' => true]),
            'DelayQueue::__construct with a bad key' => self::fails(fn () => new DelayQueue('q', null, ['keys' => ['a' => str_repeat('a', 32), 'b' => 'short']])),
            'DelayQueue::__construct of nothing' => fn () => new DelayQueue(),
            'DelayQueue::__construct with a bad name' => self::fails(fn () => new DelayQueue('no spaces')),
            'DelayQueue::__construct with a bad DSN' => self::fails(fn () => new DelayQueue('q', 'http://x')),
            'DelayQueue::__construct with a bad option' => self::fails(fn () => new DelayQueue('q', null, ['ttr' => -1])),
            'DelayQueue::__construct with an unknown option' => self::fails(fn () => new DelayQueue('q', null, ['tttr' => 1])),
            'DelayQueue::close of a private connection' => function (): void {
                $queue = new DelayQueue('empty', $this->dsn, ['persistent' => false, 'readTimeout' => 20]);
                $queue->count();
                $queue->close();
            },
            'DelayQueue::close' => fn () => $this->offline->close(),
            'DelayQueue::watch' => fn () => $this->offline->watch('a', 'b')->watch(),
            'DelayQueue::stop' => function (): void {
                $this->empty->stop();
                $this->empty->reserve(10);
            },
        ];
    }

    /** @return array<string, callable(): void> */
    private function producing(): array
    {
        $clean = fn (string ...$ids) => $this->queue->cancel(...$ids);

        return [
            'DelayQueue::push' => fn () => $clean($this->queue->push(['a' => [1, 2.5, null, 'ü'], 'b' => str_repeat('x', 300)])),
            'DelayQueue::push with everything' => fn () => $clean($this->queue->push(
                new DateTimeImmutable('2026-01-01'), new DateTimeImmutable('+1 hour'), 'everything', 5, '1m', 3,
                Backoff::stages('15s 3m 10m'), new DateInterval('PT30S'), OnDuplicate::Replace, ['trace' => 'abc', '7' => 'ü'],
            )),
            'DelayQueue::push with wrong headers' => self::fails(fn () => $this->queue->push(1, headers: ['good' => 'x', 'not good' => 'x'])),
            'DelayQueue::push raw' => fn () => $this->raw->cancel($this->raw->push("\0\xff")),
            'DelayQueue::push of a JsonSerializable that pushes' => fn () => $clean($this->queue->push(new PushingPayload($this->queue), id: 'outer'), 'inner'),
            'DelayQueue::push of a duplicate' => function () use ($clean): void {
                $this->queue->push(1, id: 'twice');
                self::fails(fn () => $this->queue->push(2, id: 'twice'))();
                $this->queue->push(2, id: 'twice', onDuplicate: OnDuplicate::Keep);
                $clean('twice');
            },
            'DelayQueue::pushMany' => fn () => $clean(...$this->queue->pushMany([
                ['payload' => 1], ['payload' => [2], 'delay' => '1h', 'priority' => 3], ['payload' => '3', 'backoff' => Backoff::linear(1)],
            ])),
            'DelayQueue::pushMany of a generator' => fn () => $clean(...$this->queue->pushMany((static function () {
                for ($n = 0; $n < 3; $n++) {
                    yield "key $n" => ['payload' => $n, 'id' => "yielded-$n"];
                }
            })())),
            'DelayQueue::pushMany that fails after the first chunk' => function (): void {
                $jobs = array_map(static fn (int $n) => ['payload' => 1, 'id' => "chunk-$n"], range(1, 501));
                self::fails(fn () => $this->queue->pushMany([...$jobs, $jobs[0]]))();
                $this->queue->purge();
            },
            'DelayQueue::pushMany of an iterator' => fn () => $clean(...$this->queue->pushMany(new ArrayIterator([['payload' => 1, 'ttr' => 5]]))),
            'DelayQueue::pushMany of a generator that throws' => self::fails(fn () => $this->queue->pushMany((static function () {
                yield ['payload' => 1, 'id' => 'never sent'];
                throw new RuntimeException('in the middle');
            })())),
            'DelayQueue::producer' => function () use ($clean): void {
                $this->queue->producer('member', 4_000_000_000, ['a' => 1]);
                $this->queue->producer('member', 4_000_000_000.5, ['a' => 2]);
                $clean('member');
            },
        ];
    }

    /** @return array<string, callable(): void> */
    private function consuming(): array
    {
        return [
            'DelayQueue::reserve of nothing' => fn () => $this->empty->reserve(),
            'DelayQueue::reserve' => function (): void {
                $this->queue->push(['n' => 1]);
                $this->queue->reserve()->ack();
            },
            'DelayQueue::reserve waiting in vain' => fn () => $this->empty->reserve(0.000_1),
            'DelayQueue::reserve waiting' => function (): void {
                $this->queue->push(1, 0.001);
                $this->queue->reserve(5)->ack();
            },
            'DelayQueue::reserve from several' => function (): void {
                $this->queue->push(1);
                $this->empty->watch('empty', 'calls')->reserve(1)->ack();
                $this->empty->watch();
            },
            'DelayQueue::reserve of what is no JSON' => function (): void {
                (new DelayQueue('calls', $this->dsn, ['format' => 'raw', 'readTimeout' => 20]))->push('{', id: 'no json');
                $this->queue->reserve();
                $this->queue->cancel('no json');
            },
            'DelayQueue::reserveMany' => function (): void {
                $this->queue->pushMany([['payload' => 1], ['payload' => [2]], ['payload' => '3']]);
                $this->queue->ackMany(...$this->queue->reserveMany(5));
            },
            'DelayQueue::reserveMany of nothing' => fn () => $this->empty->reserveMany(5),
            'DelayQueue::reserveJob' => function (): void {
                $this->queue->reserveJob($this->queue->push(1, '1h'))->ack();
                $this->queue->reserveJob('missing');
            },
            'DelayQueue::wait' => function (): void {
                $this->queue->push(1);
                $this->queue->wait();
                $this->queue->reserve()->ack();
                $this->queue->wait(0.000_1);
            },
            'DelayQueue::ackMany' => function (): void {
                $this->queue->push(1);
                $job = $this->queue->reserve();
                $this->queue->ackMany($job, $job);
                $this->queue->ackMany($job);
                $this->queue->ackMany();
            },
            'DelayQueue::consumer' => function (): void {
                $this->queue->producer('member', 1_000_000_000, ['a' => 1]);
                $this->queue->consumer();
                $this->queue->consumer(1_000_000_000.5, 5);
            },
            'DelayQueue::consumer of what is no JSON' => function (): void {
                (new DelayQueue('calls', $this->dsn, ['format' => 'raw', 'readTimeout' => 20]))->push('{');
                @$this->queue->consumer();
            },
        ];
    }

    /** @return array<string, callable(): void> */
    private function managing(): array
    {
        $looked = new DelayQueue('looked', $this->dsn, ['readTimeout' => 20]);
        $keys = ['a' => str_repeat('a', 32), 'b' => str_repeat('b', 32)];
        $sealing = array_map(fn (array $keys) => new DelayQueue('sealed', $this->dsn, ['readTimeout' => 20, 'keys' => $keys]), [array_slice($keys, 0, 1), array_reverse($keys)]);

        return [
            'DelayQueue::peek' => fn () => [$looked->peek('job-3'), $looked->peek('missing')],
            'DelayQueue::peekReady' => fn () => $looked->peekReady(),
            'DelayQueue::peekDelayed' => fn () => $looked->peekDelayed(),
            'DelayQueue::peekBuried' => fn () => $looked->peekBuried(),
            'DelayQueue::cancel' => fn () => $this->queue->cancel('missing', 'also missing'),
            'DelayQueue::reschedule' => fn () => [$looked->reschedule('job-3', '1h'), $looked->reschedule('missing', 1)],
            'DelayQueue::update' => fn () => [$looked->update('job-3', ['new' => [1, 2]], ['n' => 'v']), $looked->update('missing', 1)],
            'DelayQueue::reseal' => function () use ($sealing): void {
                $sealing[0]->push('sealed', id: 'sealed', headers: ['n' => 'v']);
                [$sealing[1]->peek('sealed'), $this->queue->peek('sealed'), $sealing[1]->reseal('sealed'), $sealing[1]->reseal('sealed')];
                self::fails(fn () => $sealing[0]->reseal('sealed'))();
                $sealing[1]->reserveJob('sealed')->ack();
            },
            'DelayQueue::reseal without keys' => self::fails(fn () => $looked->reseal('job-3')),
            'DelayQueue::kickJob' => function (): void {
                $this->queue->push(1, id: 'kicked');
                $this->queue->reserve()->bury();
                $this->queue->kickJob('kicked');
                $this->queue->kickJob('kicked', false);
                $this->queue->cancel('kicked');
            },
            'DelayQueue::kick' => function (): void {
                $this->queue->push(1, id: 'kicked');
                $this->queue->reserve()->bury();
                $this->queue->kick(10, false);
                $this->queue->cancel('kicked');
            },
            'DelayQueue\JobInfo::place' => fn () => $looked->peek('job-1')->place(),
            'DelayQueue::list' => fn () => array_map(static fn (State $state) => $looked->list($state, 0, 10), State::cases()),
            'DelayQueue::count' => fn () => count($looked) + $looked->count(State::Buried),
            'DelayQueue::countDue' => fn () => $looked->countDue(new DateTimeImmutable(), new DateTimeImmutable('+1 day')),
            'DelayQueue::now' => fn () => $looked->now(),
            'DelayQueue::sibling' => fn () => $looked->sibling('beside', ['ttr' => 5])->name(),
            'DelayQueue::pause' => fn () => $this->queue->pause('1s'),
            'DelayQueue::isPaused' => fn () => $this->queue->isPaused(),
            'DelayQueue::resume' => fn () => $this->queue->resume(),
            'DelayQueue::purge' => function (): void {
                $this->raw->push('purged');
                $this->raw->purge();
                $this->raw->purge(State::Buried, State::Ready);
            },
            'DelayQueue::forget' => function (): void {
                $forgotten = new DelayQueue('forgotten', $this->dsn, ['readTimeout' => 20]);
                $forgotten->push(1, id: 'kept');
                $forgotten->forget();
                $forgotten->cancel('kept');
                $forgotten->forget();
            },
            'DelayQueue::stats' => fn () => get_object_vars($looked->stats()),
            'DelayQueue\Stats::lateness' => fn () => $looked->stats()->lateness(),
            'DelayQueue\Stats::waitTime' => fn () => $looked->stats()->waitTime(true),
            'DelayQueue\Stats::runTimes' => fn () => $looked->stats()->runTimes(),
            'DelayQueue\Stats::history' => fn () => $looked->stats()->history(),
            'DelayQueue\Stats::prometheusPage' => fn () => Stats::prometheusPage($looked->stats(), $looked->stats()),
            'DelayQueue\Stats::toPrometheus' => fn () => $looked->stats()->toPrometheus(),
            'DelayQueue::queues' => fn () => $looked->queues(),
            'DelayQueue::workers' => fn () => [$this->enlist(), $looked->workers()],
            'DelayQueue::tellWorkers' => fn () => [$this->enlist(), $looked->tellWorkers(WorkerOrder::Resume, 'host', 7, 'looked')],
            'DelayQueue::tellWorkers a process without its host' => self::fails(fn () => $looked->tellWorkers(WorkerOrder::Stop, pid: 1)),
            'DelayQueue::tellWorkers no order' => self::fails(fn () => $looked->tellWorkers('stop')),
            'DelayQueue::partitions' => fn () => $looked->partitions(),
            'DelayQueue::name' => fn () => $looked->name(),
            'DelayQueue::dsn' => fn () => $looked->dsn(),
            'DelayQueue::prefix' => fn () => $looked->prefix(),
            'DelayQueue::installScripts' => fn () => $looked->installScripts(),
            'DelayQueue::doctor' => fn () => $looked->doctor(),
        ];
    }

    /** @return array<string, callable(): void> */
    private function values(): array
    {
        return [
            'DelayQueue\Backoff::fixed' => fn () => Backoff::fixed('5s'),
            'DelayQueue\Backoff::linear' => fn () => Backoff::linear('2m', new DateInterval('PT1M')),
            'DelayQueue\Backoff::stages' => fn () => [Backoff::stages('15s 3m 10m'), Backoff::stages([1, '2s', 3.5])],
            'DelayQueue\Backoff::exponential' => fn () => Backoff::exponential(1, 3, '1h', 0.5),
            'DelayQueue\Backoff::exponential gone wrong' => self::fails(fn () => Backoff::exponential(1, 0.5)),
            'DelayQueue\Backoff::delayAfter' => fn () => Backoff::exponential(1)->delayAfter(4),
            'DelayQueue\Backoff::parse' => fn () => [Backoff::parse('stages 15s 3m 10m'), Backoff::parse('exponential 1s 2 1h 0.5')],
            'DelayQueue\Backoff::__toString' => fn () => (string) Backoff::exponential(1, 3, '1h', 0.5),
            'DelayQueue\Backoff::parse of nonsense' => self::fails(fn () => Backoff::parse('nonsense')),
            'DelayQueue\Release::__construct' => fn () => (new Release('30s', 'later'))->delay,
            'DelayQueue\Bury::__construct' => fn () => new Bury('why', 0, new RuntimeException('before')),
            'DelayQueue\Testing::travel' => fn () => Testing::travel('1s'),
            'DelayQueue\Testing::travelTo' => fn () => Testing::travelTo(new DateTimeImmutable('+1 day')),
            'DelayQueue\Testing::travelBack' => fn () => Testing::travelBack(),
            'DelayQueue\Testing::offset' => fn () => Testing::offset(),
            'DelayQueue\Testing::forgetMemory' => function (): void {
                (new DelayQueue('forgotten', 'memory://forgotten', ['connectTimeout' => 20]))->push(1);
                Testing::forgetMemory('forgotten');
            },
            'DelayQueue\State::from' => fn () => State::from('ready'),
        ];
    }

    /** @return array<string, callable(): void> */
    private function mistakes(): array
    {
        return [
            'DelayQueue::push while Redis is not there' => self::fails(fn () => $this->offline->push(1)),
            'DelayQueue::reserve while Redis is not there' => self::fails(fn () => $this->offline->reserve(1)),
            'DelayQueue::push of an invalid payload' => self::fails(fn () => $this->queue->push("\xff")),
            'DelayQueue::push of a closure' => self::fails(fn () => $this->queue->push(static fn () => 1)),
            'DelayQueue::push of a payload that throws' => self::fails(fn () => $this->queue->push(new ThrowingPayload())),
            'DelayQueue::push of too much' => self::fails(fn () => $this->raw->push(str_repeat('x', 1001))),
            'DelayQueue::push with a bad delay' => self::fails(fn () => $this->queue->push(1, 'soon')),
            'DelayQueue::push with a bad type' => self::fails(fn () => $this->queue->push(1, [])),
            'DelayQueue::push with too few arguments' => self::fails(fn () => $this->queue->push()),
            'DelayQueue::push with an unknown argument' => self::fails(fn () => $this->queue->push(1, soon: true)),
            'DelayQueue::pushMany of bad items' => self::fails(fn () => $this->queue->pushMany([['payload' => 1], ['payload' => 1, 'dealy' => 2]])),
            'DelayQueue::pushMany of bad items yielded' => self::fails(fn () => $this->queue->pushMany((static fn () => yield 1)())),
            'DelayQueue::pushMany of a duplicate' => self::fails(fn () => $this->queue->pushMany([['payload' => 1, 'id' => 'a'], ['payload' => 1, 'id' => 'a']])),
            'DelayQueue\Job::__construct' => self::fails(fn () => new Job()),
            'DelayQueue\JobInfo::__construct' => self::fails(fn () => new DelayQueue\JobInfo()),
            'DelayQueue::__clone' => self::fails(fn () => clone $this->offline),
            'DelayQueue::__serialize' => self::fails(fn () => serialize($this->offline)),
            'DelayQueue::reserve without its constructor' => self::fails(
                fn () => (new ReflectionClass(DelayQueue::class))->newInstanceWithoutConstructor()->reserve(),
            ),
            'DelayQueue\Testing::travel backwards' => self::fails(fn () => Testing::travel(-1)),
        ];
    }

    /** Writes the entry of a worker that runs a job and has not heard an order yet. Memory has none: it cannot be written. */
    private function enlist(): void
    {
        if (str_starts_with($this->dsn, 'memory:')) {
            return;
        }
        $entry = '{"host":"host","pid":7,"version":"1","state":"working","queues":["looked"],"job":{"queue":"looked","id":"job-3","ms":1},'
            . '"memory":1,"up_ms":2,"listed_ms":28000}' . "\nstop";
        $this->client ??= new RedisClient(substr(strtok($this->dsn, '?'), strlen('redis+unix://')));
        $this->client->ask('SET', 'dq:{#workers}:0123456789abcdef', $entry);
        $this->client->ask('ZADD', 'dq:{#workers}:index', '9999999999', '0123456789abcdef');
    }

    /** A call that must throw. */
    private static function fails(callable $call): callable
    {
        return static function () use ($call): void {
            try {
                $call();
            } catch (Throwable) {
                return;
            }
            throw new LogicException('nothing was thrown');
        };
    }
}
