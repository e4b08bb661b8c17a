<?php

declare(strict_types=1);

namespace DelayQueue\Search;

use DateTimeInterface;
use DelayQueue\Internal\Invalid;
use DelayQueue\JobInfo;
use ValueError;

/**
 * The methods that narrow a search.
 *
 * @internal
 */
trait ChoosesJobs
{
    private Criteria $criteria;

    private ?int $limit = null;

    private ?int $reading = null;

    private ?Position $from = null;

    /**
     * Jobs with all of these tags: see Tags.
     *
     * @throws ValueError when one can be no tag
     */
    public function tag(string ...$tags): self
    {
        $tags = array_values($tags);
        Tags::check($tags, self::class . '::tag()');

        return $this->with(static fn (Criteria $criteria) => array_push($criteria->tags, ...$tags));
    }

    /** Jobs whose header has this value. */
    public function header(string $name, string $value): self
    {
        self::check($name !== '', 'header(): Argument #1 ($name)', 'must not be empty');
        $isNew = ($this->criteria->headers[$name] ?? $value) === $value;
        self::check($isNew, 'header(): Argument #2 ($value)', "must be the value that \"$name\" was given before");

        return $this->with(static fn (Criteria $criteria) => $criteria->headers[$name] = $value);
    }

    /** Jobs whose payload has this in it, byte by byte: the JSON, where payloads are JSON. */
    public function payload(string $part): self
    {
        self::check($part !== '', 'payload(): Argument #1 ($part)', 'must not be empty');

        return $this->with(static fn (Criteria $criteria) => $criteria->payloads[] = $part);
    }

    /** Jobs whose last error has this in it. */
    public function error(string $part): self
    {
        self::check($part !== '', 'error(): Argument #1 ($part)', 'must not be empty');

        return $this->with(static fn (Criteria $criteria) => $criteria->errors[] = $part);
    }

    /** Jobs whose last error is of this kind, as ErrorKind::of() says; '' finds those without an error. */
    public function errorKind(string $kind): self
    {
        return $this->with(static fn (Criteria $criteria) => $criteria->errorKind = $kind);
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
        $isGiven = $from !== null || $until !== null;
        self::check($isGiven, 'dueBetween(): Argument #1 ($from) or argument #2 ($until)', 'must be a moment');
        $isBetween = $from === null || $until === null || $from < $until;
        self::check($isBetween, 'dueBetween(): Argument #2 ($until)', 'must be later than argument #1 ($from)');

        return $this->with(static function (Criteria $criteria) use ($from, $until): void {
            $criteria->from = $from === null ? null : (float) $from->format('U.u');
            $criteria->until = $until === null ? null : (float) $until->format('U.u');
        });
    }

    /** At most so many jobs in a pass. */
    public function limit(int $limit): self
    {
        self::check($limit >= 1, 'limit(): Argument #1 ($limit)', 'must be greater than or equal to 1');
        $search = $this->with();
        $search->limit = $limit;

        return $search;
    }

    /** A pass reads at most so many jobs: for a request that may not last. Another one goes on where next() says. */
    public function reading(int $atMost): self
    {
        self::check($atMost >= 1, 'reading(): Argument #1 ($atMost)', 'must be greater than or equal to 1');
        $search = $this->with();
        $search->reading = $atMost;

        return $search;
    }

    /**
     * Begins behind the place of this job, whether it is still there or not; or where next() says.
     *
     * @param JobInfo|string $job a JobInfo, its place(), or next() of a pass
     *
     * @throws ValueError when its state is not searched
     */
    public function after(JobInfo|string $job): self
    {
        $from = Position::parse($job);
        self::check($from !== null, 'after(): Argument #1 ($job)', 'must be a job, the place of one, or next() of a pass');
        $isSearched = $this->states === [] || $from->state() === null || in_array($from->state(), $this->states, true);
        self::check($isSearched, 'after(): Argument #1 ($job)', 'must be in a state that is searched');
        $search = $this->with();
        $search->from = $from;

        return $search;
    }

    /** @param (callable(Criteria): mixed)|null $change */
    private function with(?callable $change = null): self
    {
        $search = clone $this;
        [$search->walk, $search->criteria] = [null, clone $this->criteria];
        $change === null || $change($search->criteria);

        return $search;
    }

    /** @param string $what the method, with its argument where it is about one */
    private static function check(bool $isRight, string $what, string $reason): void
    {
        $isRight || throw Invalid::argument(self::class . "::$what", $reason);
    }
}
