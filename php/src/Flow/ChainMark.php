<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

use UnexpectedValueException;

/**
 * Which link of which chain a job is. The header has "2/4", link 2 of 4; the id of the chain is that of its first job.
 *
 * @internal
 */
final class ChainMark
{
    public function __construct(public readonly string $chain, public readonly int $link, public readonly int $of)
    {
    }

    /** @throws UnexpectedValueException when the header or the id is none of a chain */
    public static function of(string $header, string $jobId): self
    {
        if (preg_match('~^([1-9]\d{0,3})/([1-9]\d{0,3})$~D', $header, $found) === 1 && (int) $found[1] <= (int) $found[2]) {
            $end = $found[1] === '1' ? '' : "/$found[1]";
            $mark = new self(substr($jobId, 0, strlen($jobId) - strlen($end)), (int) $found[1], (int) $found[2]);
            if ($mark->chain !== '' && $mark->jobId() === $jobId) {
                return $mark;
            }
        }
        throw new UnexpectedValueException("job '$jobId' is no link of a chain: its header " . Chain::HEADER . " is '$header'");
    }

    public function header(): string
    {
        return "$this->link/$this->of";
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
        return new self($this->chain, $this->link + 1, $this->of);
    }
}
