<?php

declare(strict_types=1);

namespace DelayQueue\InMemory;

use Closure;
use DateInterval;
use DateTimeInterface;
use DelayQueue;
use DelayQueue\JobInfo;
use DelayQueue\PayloadException;
use DelayQueue\PreparedJob;
use DelayQueue\Release;
use DelayQueue\Testing;
use DelayQueue\Worker\Signature;
use InvalidArgumentException;
use TypeError;
use ValueError;

/**
 * Checks arguments as the extension does, by asking it, and gives its errors in the name of the method that was called.
 *
 * @internal
 */
final class Arguments
{
    /** The keys of a job in the order of the parameters of push(). */
    private const PUSH = ['payload', 'delay', 'id', 'priority', 'ttr', 'maxAttempts', 'backoff', 'timeout', 'onDuplicate', 'headers',
        'unique', 'maxWait', 'expires', 'onExpiry', 'retryUntil', 'group'];

    private const DSN = 'redis://127.0.0.1';

    public readonly string $queue;

    /**
     * @param DelayQueue $like never asked: it has the options, and checks them
     * @param int|null $capacity of the queue
     */
    private function __construct(public readonly DelayQueue $like, public readonly ?int $capacity)
    {
        $this->queue = $like->name();
    }

    /** @param array<string, mixed> $options */
    public static function of(string $queue, array $options): self
    {
        return new self(new DelayQueue($queue, self::DSN, $options), self::capacity($options));
    }

    /** @param array<string, mixed> $options */
    public function sibling(string $queue, array $options): self
    {
        $sibling = $this->asked('sibling', fn (): DelayQueue => $this->like->sibling($queue, $options));

        return new self($sibling, self::capacity($options + ['capacity' => $this->capacity]));
    }

    /** @param array<string, mixed> $job the arguments of prepare() */
    public function prepared(array $job): PreparedJob
    {
        return $this->asked('prepare', fn (): PreparedJob => $this->like->prepare(...$job));
    }

    /** With the payload as this queue's format has it: an object with the other format may have stored it. */
    public function read(?JobInfo $info): ?JobInfo
    {
        if ($info === null || ($info->payload === $info->body) === $this->isRaw()) {
            return $info;
        }
        $payload = $this->isRaw() ? $info->body : json_decode($info->body, true);

        // A payload that is no JSON stays as it is; on Redis it would be buried.
        return $payload === null && $info->body !== 'null' ? $info : Testing::jobInfo(['payload' => $payload], $info);
    }

    private function isRaw(): bool
    {
        return $this->like->prepare('')->body === '';
    }

    /**
     * The answers of the extension without Redis, and its errors.
     *
     * @template T
     *
     * @param Closure(): T $call
     *
     * @return T
     */
    private function asked(string $method, Closure $call): mixed
    {
        try {
            return $call();
        } catch (TypeError|ValueError $error) {
            throw new ($error::class)(preg_replace('/^.*?\(\): /', self::method($method), $error->getMessage()));
        }
    }

    /** @param array<string, mixed> $options that have been checked */
    private static function capacity(array $options): ?int
    {
        return isset($options['capacity']) ? (int) $options['capacity'] : null;
    }

    /**
     * The job that push() or tryPush() would store.
     *
     * @param array<string, mixed> $job
     */
    public function pushed(array $job, string $method): JobInfo
    {
        return $this->checked($job, $method, array_combine(self::PUSH, range(1, count(self::PUSH))));
    }

    /** The job that pushMany() or pushOnce() would store as its item of this position. */
    public function item(mixed $job, int $position, string $method): JobInfo
    {
        $item = "Argument #1 (\$jobs) item $position";
        if (!is_array($job)) {
            throw new TypeError(self::method($method) . "$item must be of type array, " . get_debug_type($job) . ' given');
        }
        if ($method === 'pushOnce' && isset($job['seal'])) {
            throw self::error($method, "$item: \"seal\"", 'must be null: a queue in memory has no keys');
        }
        try {
            return Testing::newJob($this->like, $job, $method === 'pushOnce');
        } catch (PayloadException $error) {
            throw new PayloadException(preg_replace('/^item 0:/', "item $position:", $error->getMessage()), $error->getCode(), $error->getPrevious());
        } catch (TypeError|ValueError $error) {
            $words = preg_replace('/^.*?\(\): Argument #1 \(\$jobs\) item 0/', '', $error->getMessage());
            throw new ($error::class)(self::method($method) . $item . $words);
        }
    }

    /**
     * Values of a job that are the arguments of another method.
     *
     * @param array<string, mixed> $job
     * @param array<string, int|string> $numbers of the arguments, or what to call them, by the keys of the job
     */
    public function checked(array $job, string $method, array $numbers): JobInfo
    {
        try {
            return Testing::newJob($this->like, $job + ['payload' => '']);
        } catch (PayloadException $error) {
            throw new PayloadException(preg_replace('/^item 0: /', '', $error->getMessage()), $error->getCode(), $error->getPrevious());
        } catch (TypeError|ValueError $error) {
            preg_match('/item 0: "(\w+)" (.*)$/s', $error->getMessage(), $match);
            $argument = $numbers[$match[1]];
            $argument = is_int($argument) ? "Argument #$argument (\${$match[1]})" : $argument;
            throw new ($error::class)(self::method($method) . "$argument $match[2]");
        }
    }

    /** The id, or its error. */
    public function id(string $id, string $method, string $argument = 'Argument #1 ($id)'): string
    {
        return $this->checked(['id' => $id], $method, ['id' => $argument])->id;
    }

    /** When something falls due that may be given as a delay or as a moment. */
    public function dueUs(int|float|string|DateInterval|DateTimeInterface $delay, int $nowUs, string $method, int $number): int
    {
        $this->checked(['delay' => $delay], $method, ['delay' => $number]);

        return $delay instanceof DateTimeInterface
            ? self::momentUs($delay)
            : $nowUs + $this->us($delay, $method, "Argument #$number (\$delay)");
    }

    public static function momentUs(DateTimeInterface $moment): int
    {
        return (int) $moment->format('U') * 1_000_000 + (int) $moment->format('u');
    }

    /** A duration in microseconds. */
    public function us(int|float|string|DateInterval $duration, string $method, string $argument): int
    {
        try {
            return Store::us((new Release($duration))->delay);
        } catch (ValueError $error) {
            throw new ValueError(self::method($method) . preg_replace('/^.*?Argument #1 \(\$delay\)/', $argument, $error->getMessage()));
        }
    }

    /** @return int|null microseconds; null: for ever */
    public function timeoutUs(int|float|null $timeout, string $method, int $number): ?int
    {
        return $timeout === null ? null : $this->us($timeout, $method, "Argument #$number (\$timeout)");
    }

    public function atLeast(int $least, int $value, string $method, string $argument): int
    {
        return $value >= $least ? $value : throw self::error($method, $argument, "must be greater than or equal to $least");
    }

    /** A name for watch(). */
    public function queueName(string $queue, int $number): void
    {
        try {
            new DelayQueue($queue, self::DSN);
        } catch (ValueError $error) {
            throw new ValueError(self::method('watch') . preg_replace('/^.*?Argument #1 \(\$queue\)/', "Argument #$number", $error->getMessage()));
        }
    }

    /** @throws TypeError if the handler cannot be called with a job and this queue */
    public function handler(callable $handler, InMemoryQueue $queue, string $method): void
    {
        try {
            Signature::ofLoop($handler, $queue);
        } catch (InvalidArgumentException $error) {
            $must = 'must take a job, and a queue';
            throw new TypeError(self::method($method) . "Argument #1 (\$handler) $must: {$error->getMessage()}");
        }
    }

    /** The arguments of consume(). */
    public function limits(
        int|float $idleTimeout,
        int $maxJobs,
        int|float|string|DateInterval $maxTime,
        int|string $memoryLimit,
        bool $stopWhenEmpty,
        int $prefetch,
        int|float|string|DateInterval $timeout,
        int|float|string|DateInterval $graceTimeout,
        bool $heartbeat,
        int|float|string|DateInterval $shutdownTimeout,
    ): Limits {
        $idleUs = $this->us($idleTimeout, 'consume', 'Argument #2 ($idleTimeout)');
        if ($idleUs === 0) {
            throw self::error('consume', 'Argument #2 ($idleTimeout)', 'must be greater than 0');
        }
        $this->atLeast(0, $maxJobs, 'consume', 'Argument #3 ($maxJobs)');
        $maxUs = $this->us($maxTime, 'consume', 'Argument #4 ($maxTime)');
        if (is_string($memoryLimit) && !preg_match('/^\s*\d+\s*[kmg]?\s*$/i', $memoryLimit)) {
            throw self::error('consume', 'Argument #5 ($memoryLimit)', 'must be a number of bytes, such as 134217728 or "128M"');
        }
        $bytes = is_int($memoryLimit) ? $this->atLeast(0, $memoryLimit, 'consume', 'Argument #5 ($memoryLimit)') : ini_parse_quantity(trim($memoryLimit));
        if ($prefetch < 1 || $prefetch > 500) {
            throw self::error('consume', 'Argument #7 ($prefetch)', 'must be between 1 and 500');
        }
        $this->us($timeout, 'consume', 'Argument #8 ($timeout)');
        $this->us($graceTimeout, 'consume', 'Argument #9 ($graceTimeout)');
        $this->us($shutdownTimeout, 'consume', 'Argument #12 ($shutdownTimeout)');

        return new Limits($idleUs / 1_000_000, $maxJobs, $maxUs / 1_000_000, $bytes, $stopWhenEmpty, $heartbeat);
    }

    public static function error(string $method, string $argument, string $must): ValueError
    {
        return new ValueError(self::method($method) . "$argument $must");
    }

    private static function method(string $name): string
    {
        return InMemoryQueue::class . "::$name(): ";
    }
}
