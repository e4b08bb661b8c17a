<?php

declare(strict_types=1);

namespace DelayQueue\Schedule;

use Closure;
use DateInterval;
use DateTimeImmutable;
use DateTimeInterface;
use DelayQueue\Internal\GivenJob;
use DelayQueue\Internal\Invalid;
use DelayQueue\Internal\Moment;
use DelayQueue\Internal\Parameters;
use DelayQueue\JobInfo;
use DelayQueue\NewJob;
use DelayQueue\QueueInterface;
use DelayQueue\SealException;
use DelayQueue\State as JobState;
use Generator;
use UnexpectedValueException;
use ValueError;

/**
 * Jobs that are pushed again and again: each schedule is a delayed job in a queue of schedules, which a Runner serves.
 *
 *     $schedules = new Schedules(new DelayQueue('schedules'));
 *     $schedules->set('invoices', Cron::parse('0 9 * * MON-FRI', 'Europe/Berlin'), 'invoices', ['payload' => ['kind' => 'daily']]);
 */
final class Schedules
{
    private readonly QueueInterface $queue;

    private readonly Writer $writer;

    /** @var Closure(string): QueueInterface */
    private readonly Closure $open;

    /**
     * @param QueueInterface $queue has schedules, and nothing else
     * @param (Closure(non-empty-string): QueueInterface)|null $open opens the queues of the jobs; null: as siblings of the queue
     */
    public function __construct(QueueInterface $queue, ?Closure $open = null)
    {
        $this->open = $open ?? $queue->sibling(...);
        $this->queue = $queue->sibling($queue->name(), ['format' => 'json']);
        $this->writer = new Writer($this->queue);
    }

    /**
     * Adds a schedule, or changes it. The same definition again changes nothing. The next moment stays unless $when
     * changes, and a job that was due is caught up as $catchUp says. One that is paused stays so.
     *
     * @param non-empty-string $name as an id of a job, and at most 175 bytes
     * @param non-empty-string $queue of its jobs
     * @param NewJob|array<string, mixed> $job to push, with its properties as keys; without a payload null is one. `expires` and `retryUntil` count from the
     *     moment of each. It has no delay, id, onDuplicate, unique and maxWait: each has its own
     * @param int|float|string|DateInterval|CatchUp $catchUp what becomes of moments that nobody ran
     * @param int|float|string|DateInterval $jitter each job is due up to so much later; at most the time between two moments
     * @param DateTimeInterface|null $until no job comes after that, and the schedule is removed
     *
     * @return bool false: nothing has changed
     *
     * @throws ValueError|\DelayQueue\PayloadException
     * @throws ScheduleHeld when runners held the schedule for longer than a lease lasts, 30 s; nothing has changed, as with pause() and resume()
     * @throws SealException when the queue of schedules is sealed otherwise than this object does it, as with all methods that read schedules
     * @throws \DelayQueue\ConnectionException|\DelayQueue\ServerException
     */
    public function set(
        string $name,
        Cron|Every $when,
        string $queue,
        NewJob|array $job = [],
        Overlap $overlap = Overlap::Allow,
        int|float|string|DateInterval|CatchUp $catchUp = '1h',
        int|float|string|DateInterval $jitter = 0,
        ?DateTimeInterface $until = null,
    ): bool {
        $arguments = get_defined_vars();

        return $this->store($name, (new Check($this->queue, $this->open))->definition($arguments));
    }

    /** Null: there is none of this name. */
    public function get(string $name): ?Schedule
    {
        $job = $this->queue->peek($name);

        return $job === null ? null : self::read($job);
    }

    /**
     * All schedules. Those that come next are first, but for those that runners take and give back meanwhile.
     *
     * @return Generator<string, Schedule> by their names
     */
    public function all(): Generator
    {
        $seen = [];
        // A schedule that is taken while delayed ones are listed is in the list of reserved ones, if not in the first, then in the second.
        foreach ([JobState::Reserved, JobState::Ready, JobState::Delayed, JobState::Buried, JobState::Reserved, JobState::Ready] as $state) {
            $last = null;
            do {
                $jobs = $this->queue->list($state, limit: 500, after: $last);
                foreach ($jobs as $job) {
                    $schedule = isset($seen[$job->id]) ? null : self::read($job);
                    $seen[$job->id] = true;
                    if ($schedule !== null) {
                        yield $job->id => $schedule;
                    }
                }
                $last = end($jobs) ?: null;
            } while ($last !== null);
        }
    }

    /**
     * It pushes nothing until resume(), or for so long. Moments within a pause are not caught up, those before it are.
     *
     * @param int|float|string|DateInterval|null $for null: until resume()
     *
     * @return bool false: there is none of this name
     *
     * @throws ValueError|ScheduleHeld
     */
    public function pause(string $name, int|float|string|DateInterval|null $for = null): bool
    {
        $seconds = $for === null ? null : Arguments::duration($for, __METHOD__, 'for');

        return $this->change($name, static function (State $state, float $now) use ($seconds): State {
            return $state->paused($seconds === null ? INF : $now + $seconds);
        });
    }

    /**
     * It goes on, also where a runner has buried it.
     *
     * @return bool false: there is none of this name, or it was neither paused nor buried
     *
     * @throws ScheduleHeld
     */
    public function resume(string $name): bool
    {
        return $this->change($name, static fn (State $state): State => $state->paused(null), isForAll: false);
    }

    /**
     * Pushes a job of it now, whatever its overlap says, also while it is paused. Its next moment stays.
     *
     * @return non-empty-string|null the id of the job; null: there is no schedule of this name
     */
    public function runNow(string $name): ?string
    {
        $schedule = $this->get($name);
        if ($schedule === null) {
            return null;
        }
        $now = Moment::of(round($this->queue->now(), 3));
        $id = Occurrence::id($name, $now);

        $target = $schedule->definition->target(($this->open)($schedule->queue));

        return $target->pushMany([['delay' => 0] + $schedule->definition->job($id, $now)])[0];
    }

    /** @return bool false: there is none of this name */
    public function remove(string $name): bool
    {
        return $this->queue->cancel($name) > 0;
    }

    /**
     * Checks all that can be wrong, and stores nothing.
     *
     * @internal
     *
     * @param array<string, mixed> $arguments of set(), with the keys of the job among them; of any type
     *
     * @throws ValueError|\TypeError|Ended
     */
    public function define(array $arguments): Definition
    {
        $ours = array_diff_key(Parameters::types(self::class . '::set'), ['job' => 0]);
        $types = $ours + GivenJob::types();
        foreach ($arguments as $key => $value) {
            $fault = isset($types[$key]) ? Parameters::fault($value, $types[$key]) : "there is no key $key";
            $fault === null || throw Invalid::key(self::class . '::set()', isset($types[$key]) ? $key : '', $fault);
        }
        $job = ['job' => array_diff_key($arguments, $ours)];

        return (new Check($this->queue, $this->open))->definition($job + array_intersect_key($arguments, $ours));
    }

    /** @internal */
    public function store(string $name, Definition $definition): bool
    {
        $body = $this->queue->prepare(['payload' => $definition->toArray()])->body;

        $change = function (?JobInfo $old) use ($definition, $body): ?array {
            // A queue is sealed as a whole: another schedule tells whether a new one will be read.
            self::refuseUnreadable($old ?? $this->queue->peekDelayed());
            if ($old?->body === $body && $old->state !== JobState::Buried) {
                return null;
            }
            $now = $this->queue->now();
            $from = floor($now * 1000) / 1000;
            if ($old === null) {
                $next = $definition->startingAt($from)->next(Moment::of($now)) ?? Moment::of($now);

                return [$body, (new State($from))->goingOn($definition, $next), $next];
            }
            $state = State::of($old->headers);
            $former = self::definition($old);
            if ($former !== null) {
                $state = $state->owing($former, $old->dueAt, $now, $definition->runsEach());
            }
            if ($former?->when->toArray() !== $definition->when->toArray()) {
                $state = $state->since($from);
            }

            return [$body, ...$state->goingOnAfterChange($definition, $now)];
        };

        return $this->writer->write($name, $change);
    }

    /**
     * @param Closure(State, float): State $change gets the state and the time
     * @param bool $isForAll false: only for a schedule that is paused or buried
     */
    private function change(string $name, Closure $change, bool $isForAll = true): bool
    {
        $write = function (?JobInfo $job) use ($change, $isForAll): ?array {
            self::refuseUnreadable($job);
            $definition = $job === null ? null : self::definition($job);
            $state = State::of($job->headers ?? []);
            if ($definition === null || (!$isForAll && $state->pausedUntil === null && $job->state !== JobState::Buried)) {
                return null;
            }
            $now = $this->queue->now();
            $state = $state->owing($definition, $job->dueAt, $now, $definition->runsEach());

            return [$job->body, ...$change($state, $now)->goingOnAfterChange($definition, $now)];
        };

        return $this->writer->write($name, $write);
    }

    /** Null: it is not one of ours. */
    private static function read(JobInfo $job): ?Schedule
    {
        self::refuseUnreadable($job);

        return self::definition($job) === null ? null : Schedule::of($job);
    }

    private static function definition(JobInfo $job): ?Definition
    {
        try {
            return Definition::read($job->body);
        } catch (UnexpectedValueException) {
            return null;
        }
    }

    /** @throws SealException */
    private static function refuseUnreadable(?JobInfo $job): void
    {
        if ($job?->sealError !== null) {
            throw new SealException("schedule '$job->id' in queue '$job->queue' cannot be opened: $job->sealError");
        }
    }
}
