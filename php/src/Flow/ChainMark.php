<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

use UnexpectedValueException;

/**
 * Which link of which chain a job is. The header has "2/4 0a1b2c3d": link 2 of 4, in this run of the chain. The id of the chain is that of its first job;
 * the run tells it from an earlier one of that id, whose last job may not be acknowledged yet.
 *
 * @internal
 */
final class ChainMark
{
    public function __construct(
        public readonly string $chain,
        public readonly int $link,
        public readonly int $of,
        public readonly string $run,
    ) {
    }

    public static function newRun(): string
    {
        return bin2hex(random_bytes(4));
    }

    /** @throws UnexpectedValueException when the header or the id is none of a chain */
    public static function of(string $header, string $jobId): self
    {
        if (preg_match('~^([1-9]\d{0,3})/([1-9]\d{0,3}) ([0-9a-f]{8})$~D', $header, $found) === 1 && (int) $found[1] <= (int) $found[2]) {
            $end = $found[1] === '1' ? '' : "/$found[1]";
            $mark = new self(substr($jobId, 0, strlen($jobId) - strlen($end)), (int) $found[1], (int) $found[2], $found[3]);
            if ($mark->chain !== '' && $mark->jobId() === $jobId) {
                return $mark;
            }
        }
        throw new UnexpectedValueException("job '$jobId' is no link of a chain: its header " . Chain::HEADER . " is '$header'");
    }

    public function header(): string
    {
        return "$this->link/$this->of $this->run";
    }

    /** Of the job in its queue. */
    public function jobId(): string
    {
        return $this->link === 1 ? $this->chain : $this->copyId();
    }

    /** Of the copy that waits until it is the link's turn. */
    public function copyId(): string
    {
        return "$this->chain/$this->link";
    }

    /** Of the job that says which queues the links belong to. No copy has such an id. */
    public static function entryId(string $chain): string
    {
        return "$chain/0";
    }

    public static function failureId(string $chain): string
    {
        return "$chain/failed";
    }

    public function isLast(): bool
    {
        return $this->link === $this->of;
    }

    public function next(): self
    {
        return $this->at($this->link + 1);
    }

    /** Another link of the chain. */
    public function at(int $link): self
    {
        return new self($this->chain, $link, $this->of, $this->run);
    }
}
