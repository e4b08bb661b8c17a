<?php

declare(strict_types=1);

namespace DelayQueue\Worker;

use Closure;
use DelayQueue\Event;
use DelayQueue\JobInterface;
use Throwable;

/**
 * The listeners of a Chunk.
 *
 * @internal
 */
final class Listeners
{
    /** @var list<array{Event, Closure}> */
    private array $listeners = [];

    public function add(Event $event, Closure $listener): void
    {
        $this->listeners[] = [$event, $listener];
    }

    /**
     * In the order of their adding; one that throws is a warning.
     *
     * @param float|null $ran seconds that the handler ran
     */
    public function emit(Event $event, ?JobInterface $job = null, ?Throwable $error = null, ?float $ran = null): void
    {
        foreach ($this->listeners as [$heard, $listener]) {
            if ($heard !== $event) {
                continue;
            }
            try {
                $listener($event, $job, $error, $ran);
            } catch (Throwable $thrown) {
                $what = $thrown::class . ($thrown->getMessage() === '' ? '' : ": {$thrown->getMessage()}");
                trigger_error("A listener of Event::{$event->name} threw $what", E_USER_WARNING);
            }
        }
    }
}
