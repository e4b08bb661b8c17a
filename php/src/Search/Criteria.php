<?php

declare(strict_types=1);

namespace DelayQueue\Search;

use DelayQueue\JobInfo;
use DelayQueue\State;

/**
 * All of it has to be true of a job that is found.
 *
 * @internal
 */
final class Criteria
{
    /** @var list<string> */
    public array $tags = [];

    /** @var array<string> values by name */
    public array $headers = [];

    /** @var list<string> parts of the payload */
    public array $payloads = [];

    /** @var list<string> parts of the last error */
    public array $errors = [];

    /** ErrorKind of the last error. */
    public ?string $errorKind = null;

    /** Unix seconds. */
    public ?float $since = null;

    /** Unix seconds: due then, or later. */
    public ?float $from = null;

    /** Unix seconds: due before. */
    public ?float $until = null;

    /** Whether they need more of a job than anybody may read where payloads are sealed. */
    public function lookInside(): bool
    {
        return $this->tags !== [] || $this->headers !== [] || $this->payloads !== [];
    }

    public function match(JobInfo $job): bool
    {
        return ($this->from === null || $job->dueAt >= $this->from)
            && ($this->until === null || $job->dueAt < $this->until)
            && ($this->since === null || ($job->state === State::Buried ? $job->dueAt : $job->createdAt) >= $this->since)
            && self::containsAll($job->lastError ?? '', $this->errors)
            && ($this->errorKind === null || ErrorKind::of($job->lastError ?? '') === $this->errorKind)
            && (!$this->lookInside() || $job->sealError === null && $this->matchInside($job));
    }

    private function matchInside(JobInfo $job): bool
    {
        return array_diff_assoc($this->headers, $job->headers) === []
            && ($this->tags === [] || array_diff($this->tags, Tags::in($job)) === [])
            && self::containsAll($job->body, $this->payloads);
    }

    /** @param list<string> $parts */
    private static function containsAll(string $text, array $parts): bool
    {
        foreach ($parts as $part) {
            if (!str_contains($text, $part)) {
                return false;
            }
        }

        return true;
    }
}
