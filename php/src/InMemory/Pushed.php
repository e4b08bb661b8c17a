<?php

declare(strict_types=1);

namespace DelayQueue\InMemory;

use DelayQueue\OnDuplicate;

/**
 * A job that is to be stored, or a receipt alone, and the rules for it.
 *
 * @internal
 */
final class Pushed
{
    /**
     * @param int|null $uniqueUs for how long the id stays taken
     * @param bool $isReceiptOnly there is no job
     */
    public function __construct(
        public readonly Entry $entry,
        public readonly OnDuplicate $onDuplicate,
        public readonly ?int $uniqueUs = null,
        public readonly string $receipt = '',
        public readonly bool $isReceiptOnly = false,
    ) {
    }

    public function id(): string
    {
        return $this->entry->info->id;
    }
}
