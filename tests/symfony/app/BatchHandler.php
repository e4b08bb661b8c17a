<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony\App;

use Symfony\Component\Messenger\Handler\Acknowledger;
use Symfony\Component\Messenger\Handler\BatchHandlerInterface;
use Symfony\Component\Messenger\Handler\BatchHandlerTrait;

/** Handles messages ten at a time, or fewer where no more come. */
final class BatchHandler implements BatchHandlerInterface
{
    use BatchHandlerTrait;

    public function __construct(private readonly Journal $journal)
    {
    }

    public function __invoke(BatchWork $work, ?Acknowledger $ack = null): mixed
    {
        return $this->handle($work, $ack);
    }

    private function process(array $jobs): void
    {
        foreach ($jobs as [$work, $ack]) {
            $this->journal->write('batch-of-' . count($jobs), $work->name);
            $ack->ack($work);
        }
    }
}
