<?php

declare(strict_types=1);

namespace DelayQueue\Search;

use Countable;
use DateInterval;
use DateTimeInterface;
use DelayQueue\ConnectionException;
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
 * @implements IteratorAggregate<int, JobInfo>
 */
final class Search implements Countable, IteratorAggregate
{
    /** In the direction that jobs move, so that one that moves is rather met twice than missed. */
    private const STATES = [State::Delayed, State::Ready, State::Reserved, State::Buried];

    private const NOT_HELD = [State::Delayed, State::Ready, State::Buried];

    /** @var list<State> that were named */
    private array $states;

    private Criteria $criteria;

    private ?int $limit = null;

    private ?int $reading = null;

    private ?JobInfo $after = null;

    private ?Walk $walk = null;

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
     * Jobs with all of these tags: see Tags.
     *
     * @throws ValueError when one can be no tag
     */
    public function tag(string ...$tags): self
    {
        $tags = array_values($tags);
        try {
            Tags::of(...$tags);
        } catch (ValueError $error) {
            throw new ValueError(str_replace(Tags::class . '::of', self::class . '::tag', $error->getMessage()), 0, $error);
        }

        return $this->with(static fn (Criteria $criteria) => array_push($criteria->tags, ...$tags));
    }

    /** Jobs whose header has this value. */
    public function header(string $name, string $value): self
    {
        self::check($name !== '', 'header', 'Argument #1 ($name) must not be empty');
        $isNew = ($this->criteria->headers[$name] ?? $value) === $value;
        self::check($isNew, 'header', "Argument #2 (\$value) must be the value that \"$name\" was given before");

        return $this->with(static fn (Criteria $criteria) => $criteria->headers[$name] = $value);
    }

    /** Jobs whose payload has this in it, byte by byte: the JSON, where payloads are JSON. */
    public function payload(string $part): self
    {
        self::check($part !== '', 'payload', 'Argument #1 ($part) must not be empty');

        return $this->with(static fn (Criteria $criteria) => $criteria->payloads[] = $part);
    }

    /** Jobs whose last error has this in it. */
    public function error(string $part): self
    {
        self::check($part !== '', 'error', 'Argument #1 ($part) must not be empty');

        return $this->with(static fn (Criteria $criteria) => $criteria->errors[] = $part);
    }

    /** Jobs that were pushed since then, by the clock of their producers; buried ones that were buried since then. */
    public function since(DateTimeInterface $moment): self
    {
        return $this->with(static fn (Criteria $criteria) => $criteria->since = (float) $moment->format('U.u'));
    }

    /**
     * Jobs that are due at $from or later, and before $until. The time of a buried job is when it was buried.
     *
     * @throws ValueError when no moment is given, or none is between them
     */
    public function dueBetween(?DateTimeInterface $from, ?DateTimeInterface $until): self
    {
        self::check($from !== null || $until !== null, 'dueBetween', 'Argument #1 ($from) or argument #2 ($until) must be a moment');
        self::check($from === null || $until === null || $from < $until, 'dueBetween', 'Argument #2 ($until) must be later than argument #1 ($from)');

        return $this->with(static function (Criteria $criteria) use ($from, $until): void {
            $criteria->from = $from === null ? null : (float) $from->format('U.u');
            $criteria->until = $until === null ? null : (float) $until->format('U.u');
        });
    }

    /** At most so many jobs. */
    public function limit(int $limit): self
    {
        self::check($limit >= 1, 'limit', 'Argument #1 ($limit) must be greater than or equal to 1');
        $search = $this->with();
        $search->limit = $limit;

        return $search;
    }

    /** Reads at most so many jobs: for a request that may not last. The next one goes on behind the job that lastLeft() tells. */
    public function reading(int $atMost): self
    {
        self::check($atMost >= 1, 'reading', 'Argument #1 ($atMost) must be greater than or equal to 1');
        $search = $this->with();
        $search->reading = $atMost;

        return $search;
    }

    /**
     * Begins behind the place of this job, whether it is still there or not.
     *
     * @throws ValueError when its state is not searched
     */
    public function after(JobInfo $job): self
    {
        self::check($this->states === [] || in_array($job->state, $this->states, true), 'after', 'Argument #1 ($job) must be in a state that is searched');
        $search = $this->with();
        $search->after = $job;

        return $search;
    }

    /**
     * @return Traversable<int, JobInfo>
     *
     * @throws SealException when it is about payloads or headers, and the queue lacks the keys of a sealed job
     * @throws ConnectionException|ServerException
     */
    public function getIterator(): Traversable
    {
        yield from $this->begin(self::STATES, 'getIterator')->jobs();
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
        return $this->begin(self::STATES, 'count')->each(count(...), $progress);
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

        return $this->begin(self::STATES, 'cancel')->each($cancel, $progress);
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
        if ($spread === null) {
            $walk = $this->begin([State::Buried, State::Delayed], 'kick', [State::Buried]);

            return $walk->eachOne(fn (JobInfo $job): bool => $this->queue->kickJob($job->id, $resetAttempts), $progress);
        }
        $times = Times::spread($this->queue, $spread, self::class . '::kick', 'Argument #1 ($spread)');
        $times->over($this->begin([State::Buried], 'kick')->each(count(...)));
        $bringBack = fn (JobInfo $job): bool => $this->queue->reschedule($job->id, $times->next());

        return $this->begin([State::Buried], 'kick')->eachOne($bringBack, $progress);
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
        $times = Times::after($this->queue, $delay, self::class . '::reschedule', 'Argument #1 ($delay)');
        $walk = $this->begin(self::NOT_HELD, 'reschedule');
        // Moved jobs come by again behind the others.
        $reschedule = fn (JobInfo $job): ?bool => $times->hasGiven($job->dueAt) ? null : $this->queue->reschedule($job->id, $times->next());

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
        $walk = $this->begin(self::NOT_HELD, 'moveTo');
        $move = new Move($this->queue, $target);

        return $move->settle() + $walk->eachOne($move->move(...), $progress);
    }

    /** How many jobs the last pass has read. */
    public function read(): int
    {
        return $this->walk->read ?? 0;
    }

    /** Where the last pass has stopped: the last job that it has read. */
    public function last(): ?JobInfo
    {
        return $this->walk?->last;
    }

    /** The last job that the last pass has read and not found: it keeps its place, so another process can begin behind it. */
    public function lastLeft(): ?JobInfo
    {
        return $this->walk?->lastLeft;
    }

    /** Whether the last pass has ended at limit() or reading(), so that there may be more jobs. */
    public function isCut(): bool
    {
        return $this->walk->isCut ?? false;
    }

    /** How many jobs the last pass has found and left as they are. */
    public function skipped(): int
    {
        return $this->walk->skipped ?? 0;
    }

    /**
     * @param list<State> $possible
     * @param list<State> $usual where no state was named
     */
    private function begin(array $possible, string $method, array $usual = []): Walk
    {
        foreach ($this->states as $state) {
            self::check(in_array($state, $possible, true), $method, "there are no $state->value jobs to do this with");
        }
        $states = $this->states ?: ($usual ?: $possible);
        $isPlace = $this->after === null || in_array($this->after->state, $states, true);
        self::check($isPlace, $method, "it cannot begin behind a job that is {$this->after?->state->value}");

        return $this->walk = new Walk($this->queue, $states, $this->criteria, $this->limit, $this->reading, $this->after);
    }

    /** @param (callable(Criteria): mixed)|null $change */
    private function with(?callable $change = null): self
    {
        $search = clone $this;
        [$search->walk, $search->criteria] = [null, clone $this->criteria];
        $change === null || $change($search->criteria);

        return $search;
    }

    private static function check(bool $isRight, string $method, string $fault): void
    {
        $isRight || throw new ValueError(self::class . "::$method(): $fault");
    }
}
