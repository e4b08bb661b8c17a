<?php

declare(strict_types=1);

namespace DelayQueue\Middleware;

use Closure;
use DateInterval;
use DelayQueue\Internal\Monotonic;
use DelayQueue\JobInterface;
use DelayQueue\Release;
use Throwable;
use ValueError;

/**
 * Middleware: a handler that has failed so often in a time gets no jobs for a pause. They go back until then, and their attempts do not count.
 *
 *     new Pipeline($handler, new CircuitBreaker(5, within: '1m', pause: '30s', of: [BankIsDown::class]))
 *
 * After the pause one job is the trial: if it succeeds, all goes on; if it fails, the next pause begins. A trial that decides nothing, because its handler
 * released or buried it, or threw an exception that does not count, is followed by another one.
 *
 * Each worker process learns for itself: each of ten workers has its own failures, pauses and trials. RateLimited closes a group or a queue for all of them.
 */
final class CircuitBreaker
{
    /** So many failures are counted, and of so many keys: the memory of a worker is limited. The key that failed longest ago is forgotten. */
    private const MOST = 1000;

    private readonly float $within;

    private readonly float $pause;

    /** @var list<class-string> */
    private readonly array $of;

    private readonly Closure $key;

    /** @var array<array-key, list<float>> when jobs of a key failed; the key that failed last comes last */
    private array $failed = [];

    /** @var array<array-key, float> when the pause of a key ends; of no others than those above */
    private array $pauses = [];

    /**
     * @param int<1, 1000> $failures
     * @param list<class-string> $of these exceptions count and no others; none: each failure
     * @param (Closure(JobInterface): string)|null $key jobs of one key share failures, pauses and trials; null: those of one queue and task
     *
     * @throws ValueError
     */
    public function __construct(
        private readonly int $failures,
        int|float|string|DateInterval $within,
        int|float|string|DateInterval $pause,
        array $of = [],
        ?Closure $key = null,
    ) {
        if ($failures < 1 || $failures > self::MOST) {
            throw Arguments::error(self::class, '#1 ($failures)', 'must be between 1 and ' . self::MOST);
        }
        $this->within = Arguments::duration($within, self::class, '#2 ($within)');
        $this->pause = Arguments::duration($pause, self::class, '#3 ($pause)');
        $this->of = Arguments::exceptions(array_values($of), self::class, '#4 ($of)');
        // The task is any text that somebody has pushed.
        $this->key = $key ?? static fn (JobInterface $job): string => "$job->queue/" . substr((string) Task::of($job), 0, 200);
    }

    public function __invoke(JobInterface $job, callable $next): mixed
    {
        $key = ($this->key)($job);
        $isTrial = isset($this->pauses[$key]);
        if ($isTrial) {
            $left = $this->pauses[$key] - Monotonic::now();
            if ($left > 0) {
                // Not all at the same moment: the trial comes first.
                throw new Release($left + $this->pause * random_int(0, 100) / 1000, 'the circuit breaker is open', countAttempt: false);
            }
            // A handler may run a loop of its own, with jobs of this key in it.
            $this->pauses[$key] = Monotonic::now() + $this->pause;
        }
        $error = null;
        try {
            return $next($job);
        } catch (Throwable $error) {
            throw $error;
        } finally {
            $this->learn($key, $isTrial, $this->hasFailed($error));
        }
    }

    /** Null where the end of the run tells nothing. */
    private function hasFailed(?Throwable $error): ?bool
    {
        return match (true) {
            $error === null => false,
            Failure::is($error) && ($this->of === [] || Failure::isOneOf($error, $this->of)) => true,
            default => null,
        };
    }

    private function learn(string $key, bool $isTrial, ?bool $hasFailed): void
    {
        $now = Monotonic::now();
        if ($hasFailed) {
            $this->fail($key, $isTrial, $now);
        } elseif ($isTrial && $hasFailed === null) {
            $this->pauses[$key] = $now;
        } elseif ($isTrial) {
            unset($this->failed[$key], $this->pauses[$key]);
        }
    }

    private function fail(string $key, bool $isTrial, float $now): void
    {
        $recent = array_filter($this->failed[$key] ?? [], fn (float $at): bool => $at > $now - $this->within);
        $recent = array_slice([...$recent, $now], -$this->failures);
        unset($this->failed[$key]);
        $this->failed[$key] = $recent;
        if ($isTrial || count($recent) >= $this->failures) {
            $this->pauses[$key] = $now + $this->pause;
        }
        if (count($this->failed) > self::MOST) {
            $oldest = array_key_first($this->failed);
            unset($this->failed[$oldest], $this->pauses[$oldest]);
        }
    }
}
