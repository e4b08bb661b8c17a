<?php

declare(strict_types=1);

namespace DelayQueue\Worker;

use DelayQueue\Internal\SamePayload;
use DelayQueue\JobInterface;

/**
 * The progress of a job as it was written last, and what is written along with it. It does not hold the job.
 *
 * @internal
 */
final class Reported
{
    /** Bytes of a payload that may be written again and again. */
    private const MAX_BYTES = 65_536;

    public ?float $at = null;

    public ?string $header;

    /** @var array<array-key, string> of the job */
    public array $headers;

    public ?SamePayload $payload;

    public function __construct(JobInterface $job)
    {
        $this->headers = array_diff_key($job->headers, [Progress::HEADER => true]);
        $this->header = $job->headers[Progress::HEADER] ?? null;
        $this->payload = strlen($job->body) > self::MAX_BYTES ? null : SamePayload::of($job);
    }

    public function note(mixed $payload): void
    {
        $this->payload = SamePayload::ofNote($payload, self::MAX_BYTES);
    }

    /** @return array<array-key, string> the headers to store */
    public function all(): array
    {
        return $this->header === null ? $this->headers : [Progress::HEADER => $this->header] + $this->headers;
    }
}
