<?php

declare(strict_types=1);

namespace DelayQueue\Search;

use Countable;
use DateInterval;
use DateTimeInterface;
use DelayQueue\ConnectionException;
use DelayQueue\Internal\Seconds;
use DelayQueue\JobInfo;
use DelayQueue\QueueInterface;
use DelayQueue\SealException;
use DelayQueue\ServerException;
use DelayQueue\State;
use IteratorAggregate;
use Traversable;
use ValueError;

/**
 * Jobs of a queue that have something in common, to look at or to act on:
 *
 *     $search = Search::in($queue, State::Delayed)->tag('tenant:42')->payload('4711');
 *     foreach ($search as $job) {
 *         echo $job->id, "\n";
 *     }
 *     echo $search->cancel(), " cancelled\n";
 *
 * It reads the jobs of these states page by page, in the memory of one page. A job that keeps its state and its place is met once, whatever comes
 * and goes meanwhile. Each method that narrows the search gives a new one; all that it was told has to be true of a job.
 *
 * A job is looked at, and then acted on by its id: some milliseconds lie between. A job that has left its state by then is passed over where the
 * action is for its old state only; see the methods. Each job is either done or left, so a pass that is broken off can be repeated.
 *
 * A callback for progress gets the number of jobs that are done, and of those that were read, after each page.
 *
 * With reading() each call is a bounded pass, and next() says where another one goes on, maybe in another process:
 *
 *     $some = $search->reading(500);
 *     for ($next = ''; $next !== null; $next = $pass->next()) {
 *         $pass = $some->after($next);
 *         $pass->kick();
 *     }
 *
 * @implements IteratorAggregate<int, JobInfo>
 */
final class Search implements Countable, IteratorAggregate
{
    use ChoosesJobs;
    use TellsOfPass;

    /** In the direction that jobs move, so that one that moves is rather met twice than missed. */
    private const STATES = [State::Delayed, State::Ready, State::Reserved, State::Buried];

    private const NOT_HELD = [State::Delayed, State::Ready, State::Buried];

    /** @var list<State> that were named */
    private array $states;

    private function __construct(private readonly QueueInterface $queue, State ...$states)
    {
        $this->states = array_values(array_filter(self::STATES, static fn (State $state): bool => in_array($state, $states, true)));
        $this->criteria = new Criteria();
    }

    /** The jobs of these states; none named: of those that the method takes. They are read in the order delayed, ready, reserved, buried. */
    public static function in(QueueInterface $queue, State ...$states): self
    {
        return new self($queue, ...$states);
    }

    /**
     * @return Traversable<int, JobInfo>
     *
     * @throws SealException when it is about payloads or headers, and the queue lacks the keys of a sealed job
     * @throws ConnectionException|ServerException
     */
    public function getIterator(): Traversable
    {
        yield from $this->begin(self::STATES, 'getIterator')[0]->jobs();
    }

    /**
     * How many jobs there are. It reads them all.
     *
     * @param (callable(int, int): void)|null $progress
     *
     * @throws SealException|ConnectionException|ServerException
     */
    public function count(?callable $progress = null): int
    {
        return $this->begin(self::STATES, 'count')[0]->each(count(...), $progress);
    }

    /**
     * Removes the jobs, also one that a worker has taken since it was looked at: see cancel() of a queue.
     *
     * @param (callable(int, int): void)|null $progress
     * @param (callable(list<JobInfo>): int)|null $by cancels those of a page, in place of cancel() of the queue
     *
     * @return int how many
     *
     * @throws SealException|ConnectionException|ServerException
     */
    public function cancel(?callable $progress = null, ?callable $by = null): int
    {
        $by ??= fn (array $jobs): int => $this->queue->cancel(...array_column($jobs, 'id'));
        $cancel = static fn (array $jobs): int => $jobs === [] ? 0 : $by($jobs);

        return $this->begin(self::STATES, 'cancel')[0]->each($cancel, $progress);
    }

    /**
     * Makes the buried jobs ready; delayed ones, too, if that state was named. With a spread they come back evenly over so long: each buried job
     * becomes a delayed one, in the order in which they were buried. That keeps its attempts, so a job that has none left gets just one more.
     *
     * @param int|float|string|DateInterval|null $spread a duration
     * @param bool $resetAttempts without a spread: attempts begin at 0
     * @param (callable(int, int): void)|null $progress
     *
     * @return int how many
     *
     * @throws ValueError for other states, and with a spread for delayed jobs
     * @throws SealException|ConnectionException|ServerException
     */
    public function kick(int|float|string|DateInterval|null $spread = null, bool $resetAttempts = true, ?callable $progress = null): int
    {
        if ($spread !== null) {
            $seconds = Seconds::positive($spread, self::class . '::kick', 'Argument #1 ($spread)');

            return $this->kickOver($seconds, $progress);
        }
        [$walk, $position] = $this->begin([State::Buried, State::Delayed], 'kick', [State::Buried]);
        $position->startedUs($this->queue);
        $kick = fn (JobInfo $job): ?bool
            => $position->isBuriedSince($job) ? null : $this->queue->kickJob($job->id, $resetAttempts);

        return $walk->eachOne($kick, $progress);
    }

    /**
     * Moves the jobs to a new time; after the same delay they keep their order. A job that a worker holds is passed over.
     *
     * @param int|float|string|DateInterval|DateTimeInterface $delay a duration, or a moment
     * @param (callable(int, int): void)|null $progress
     *
     * @return int how many
     *
     * @throws ValueError for reserved jobs
     * @throws SealException|ConnectionException|ServerException
     */
    public function reschedule(int|float|string|DateInterval|DateTimeInterface $delay, ?callable $progress = null): int
    {
        $seconds = $delay instanceof DateTimeInterface
            ? null
            : Seconds::of($delay, self::class . '::reschedule', 'Argument #1 ($delay)');
        [$walk, $position] = $this->begin(self::NOT_HELD, 'reschedule');
        $startedUs = $position->startedUs($this->queue);
        $times = $seconds === null ? Times::at($position, $delay) : Times::after($position, $startedUs, $seconds);
        // Moved jobs come by again behind the others.
        $isDone = static fn (JobInfo $job): bool
            => $job->state === State::Buried ? $position->isBuriedSince($job) : $times->hasGiven($job->dueAt);
        $reschedule = fn (JobInfo $job): ?bool
            => $isDone($job) ? null : $this->queue->reschedule($job->id, $times->next());

        return $walk->eachOne($reschedule, $progress);
    }

    /**
     * Moves the jobs with their past into another queue, which may be on another Redis. A job is there, and then no longer here, so that a crash
     * in between leaves it in both until the next move between the two queues. A job whose id is there already stays, and so does one that has
     * changed since it was looked at.
     *
     * @param (callable(int, int): void)|null $progress
     *
     * @return int how many
     *
     * @throws ValueError for reserved jobs, and when it is the queue itself
     * @throws SealException when a queue lacks keys for sealed jobs; this job stays as it is
     * @throws ConnectionException|ServerException
     */
    public function moveTo(QueueInterface $target, ?callable $progress = null): int
    {
        [$walk, $position] = $this->begin(self::NOT_HELD, 'moveTo');
        $move = new Move($this->queue, $target, $position->startedUs($this->queue) / 1_000_000);

        return $move->settle() + $walk->eachOne($move->move(...), $progress);
    }

    /**
     * Brings the buried jobs back over some time. How many they are is counted first; with reading() by passes of their
     * own, which do nothing else.
     *
     * @param (callable(int, int): void)|null $progress
     */
    private function kickOver(float $seconds, ?callable $progress): int
    {
        [$walk, $position] = $this->begin([State::Buried], 'kick');
        $startedUs = $position->startedUs($this->queue);
        if ($position->isCounting) {
            $isNew = static fn (JobInfo $job): bool => !$position->isBuriedSince($job);
            $position->counted += $walk->each(static fn (array $jobs): int => count(array_filter($jobs, $isNew)));
            if (!$walk->hasEnded && !$walk->hasFound($this->limit)) {
                return 0;
            }
            [$position->isCounting, $position->place] = [false, ''];
            $this->walk = $walk = $this->walk($position, [State::Buried]);
            if ($this->reading !== null) {
                return 0;
            }
        }
        $times = Times::spread($position, $startedUs, $seconds);
        $bringBack = fn (JobInfo $job): ?bool
            => $position->isBuriedSince($job) ? null : $this->queue->reschedule($job->id, $times->next());

        return $walk->eachOne($bringBack, $progress);
    }

    /**
     * @param list<State> $possible
     * @param list<State> $usual where no state was named
     *
     * @return array{Walk, Position}
     */
    private function begin(array $possible, string $method, array $usual = []): array
    {
        foreach ($this->states as $state) {
            self::check(in_array($state, $possible, true), "$method():", "there are no $state->value jobs to do this with");
        }
        $states = $this->states ?: ($usual ?: $possible);
        $first = $this->from?->state();
        $isPlace = $first === null || in_array($first, $states, true);
        self::check($isPlace, "$method():", "it cannot begin behind a job that is {$first?->value}");
        $this->position = clone ($this->from ?? Position::first());
        $this->walk = $this->walk($this->position, $states);

        return [$this->walk, $this->position];
    }

    /** @param list<State> $states */
    private function walk(Position $from, array $states): Walk
    {
        return new Walk($this->queue, $states, $this->criteria, $this->limit, $this->reading, $from);
    }
}
