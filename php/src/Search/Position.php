<?php

declare(strict_types=1);

namespace DelayQueue\Search;

use DelayQueue\JobInfo;
use DelayQueue\QueueInterface;
use DelayQueue\State;

/**
 * Where a pass begins, and what it has to know of the passes before it: a text, for another process.
 *
 * @internal
 */
final class Position
{
    private const PLACE = '(?:(?:delayed|ready|reserved|buried)\.\d{1,10}\.-?\d{1,18}\.\d{1,5}\..+)?';

    /** Microseconds of Unix time at which the first pass began, by Redis' clock. */
    private ?int $startedUs = null;

    /** How many new times were given. */
    public int $given = 0;

    /** How many jobs a spread is for, as far as they are counted. */
    public int $counted = 0;

    public bool $isCounting = true;

    private function __construct(public string $place)
    {
    }

    public static function first(): self
    {
        return new self('');
    }

    /**
     * @param JobInfo|string $job to begin behind, its place, or a text(); '': at the first job
     *
     * @return self|null null: the string is something else
     */
    public static function parse(JobInfo|string $job): ?self
    {
        $text = is_string($job) ? $job : $job->place();
        $pattern = '/^(?:(\d{1,18})\.(\d{1,15})\.(\d{1,15})(c?)\.)?(' . self::PLACE . ')$/sD';
        if (preg_match($pattern, $text, $found, PREG_UNMATCHED_AS_NULL) !== 1) {
            return null;
        }
        $position = new self((string) $found[5]);
        if ($found[1] !== null) {
            $position->startedUs = (int) $found[1];
            $position->given = (int) $found[2];
            $position->counted = (int) $found[3];
            $position->isCounting = $found[4] === 'c';
        }

        return $position;
    }

    /** The state of the job to begin behind; null: it begins at the first job. */
    public function state(): ?State
    {
        return State::tryFrom((string) strstr($this->place, '.', true));
    }

    public function startedUs(QueueInterface $queue): int
    {
        return $this->startedUs ??= Times::us($queue->now());
    }

    /** Whether a job was buried since the first pass began: it was not meant, or has been changed already. */
    public function isBuriedSince(JobInfo $job): bool
    {
        return $this->startedUs !== null && $job->state === State::Buried && Times::us($job->dueAt) > $this->startedUs;
    }

    /** @param string $place the last job that was done with */
    public function text(string $place): string
    {
        return $this->startedUs === null
            ? $place
            : "$this->startedUs.$this->given.$this->counted" . ($this->isCounting ? 'c' : '') . ".$place";
    }
}
