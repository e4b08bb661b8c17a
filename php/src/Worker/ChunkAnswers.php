<?php

declare(strict_types=1);

namespace DelayQueue\Worker;

use DelayQueue\JobInterface;
use Generator;
use Throwable;
use UnexpectedValueException;

/**
 * How each job of a chunk is to end, by what its handler has returned or thrown.
 *
 * @internal
 */
final class ChunkAnswers
{
    /**
     * @param list<JobInterface> $jobs
     * @param mixed $answer a Throwable: it was thrown
     *
     * @throws UnexpectedValueException when it answers for a job that is not there, or the code of the handler has not run at all
     */
    public function __construct(array $jobs, private readonly mixed $answer)
    {
        if ($answer instanceof Generator) {
            throw new UnexpectedValueException('the handler of a chunk must return an array, and not yield: nothing of it has run');
        }
        if (is_array($answer)) {
            $ids = array_map(static fn (JobInterface $job): string => $job->id, $jobs);
            $unknown = array_key_first(array_diff_key($answer, array_flip($ids)));
            $unknown === null || throw new UnexpectedValueException("the handler of a chunk must return an array by ids of its jobs; '$unknown' is none of them");
        }
    }

    /** The answer for this one: as if a handler of this job alone had returned it, or thrown it. */
    public function of(JobInterface $job): mixed
    {
        return is_array($this->answer) ? $this->answer[$job->id] ?? null : $this->answer;
    }

    public function isDone(JobInterface $job): bool
    {
        return !$this->of($job) instanceof Throwable;
    }
}
