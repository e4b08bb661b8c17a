<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

/**
 * The job that stands for a batch as long as that is there: its payload. BatchStore says who may change it.
 *
 * @internal
 */
final class BatchDefinition
{
    /**
     * @param string $digest of the members of start(), which a repeated start() must have as well
     * @param array<array-key, int> $queues number of partitions by the name of a queue with members
     * @param array<array-key, int> $adding members by their digest: of each add() that has begun and not ended
     * @param array<string, mixed>|null $then see BatchCall
     * @param array<string, mixed>|null $failed see BatchCall
     */
    public function __construct(
        public readonly string $digest,
        public int $total,
        public array $queues,
        public readonly ?array $then,
        public readonly ?array $failed,
        public BatchStage $stage = BatchStage::Markers,
        public array $adding = [],
    ) {
    }

    /** @param array<string, mixed> $payload */
    public static function of(array $payload): self
    {
        return new self(...['stage' => BatchStage::from($payload['stage'])] + $payload);
    }

    /** @return array<string, mixed> */
    public function payload(): array
    {
        return ['stage' => $this->stage->value] + get_object_vars($this);
    }
}
