<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Support;

use ArrayIterator;
use DelayQueue;
use DelayQueue\OnDuplicate;
use DelayQueue\State;

/** The calls of EveryCall about jobs that arrive once, and what a queue keeps of them. */
trait OnceCalls
{
    /** @return array<string, callable(): void> */
    private function arriving(): array
    {
        return [
            'DelayQueue::tryPush' => function (): void {
                $this->queue->tryPush(['payload' => 1, 'id' => 'tried', 'onDuplicate' => OnDuplicate::Replace, 'unique' => 0.001, 'maxWait' => '1h']);
                $this->queue->tryPush(['payload' => 2, 'id' => 'tried']);
                $this->queue->cancel('tried');
            },
            'DelayQueue::pushOnce' => function (): void {
                $past = ['attempts' => 1, 'firstDueAt' => 1.5, 'lastError' => 'before'];
                $jobs = [['receipt' => 'r1', 'payload' => [1], 'id' => 'once', 'past' => $past, 'state' => State::Buried], ['receipt' => 'r2', 'id' => 'taken', 'unique' => 60]];
                get_object_vars($this->queue->pushOnce(new ArrayIterator($jobs)));
                $this->queue->pushOnce($jobs);
                $this->queue->cancel('once');
                $this->queue->forgetReceipts('r1', 'r2', 'taken');
            },
            'DelayQueue::pushOnce of nonsense' => self::fails(fn () => $this->queue->pushOnce([['receipt' => 'r', 'payload' => 1, 'past' => ['lastError' => []]]])),
            'DelayQueue::prepare' => fn () => get_object_vars($this->offline->prepare(['payload' => ['a' => 1], 'delay' => '15m', 'id' => 'x', 'headers' => ['h' => 'x'], 'unique' => 60, 'expires' => '1h'])),
            'DelayQueue::receipts' => fn () => $this->queue->receipts('1s', 'r'),
            'DelayQueue::takenIds' => fn () => $this->queue->takenIds(),
            'DelayQueue::forgetReceipts' => fn () => $this->queue->forgetReceipts('none'),
            'DelayQueue::push to a full queue' => function (): void {
                $full = new DelayQueue('looked', $this->dsn, ['readTimeout' => 20, 'capacity' => 1]);
                self::fails(fn () => $full->push(1))();
            },
        ];
    }
}
