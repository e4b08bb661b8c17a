<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

use DelayQueue;
use DelayQueue\Event;
use DelayQueue\Internal\Json;
use DelayQueue\StopReason;

/** The end of the socket that a worker, or a process beside the workers, holds: through it the parent hears of it, and the parent's end is noticed. */
final class Lifeline
{
    public const READY = 'ready';
    public const EMPTY = 'empty';
    public const STOPPED = 'stopped';
    public const AWAY = 'away';
    public const BACK = 'back';

    /** Followed by JSON: how long jobs wait, and of which queue. */
    public const LOAD = 'load';

    /** Followed by JSON: the queues, and where Redis is. */
    public const PLACE = 'place';

    /** Set by the parent for its processes, and by nobody else: the descriptor of the socket. */
    public const VARIABLE = 'DELAYQUEUE_LIFELINE';

    /** Behind the descriptor: the worker is to take no jobs until SIGCONT. */
    private const HELD = 'held';

    /**
     * @param resource $socket
     * @param Role|null $role what this process does; null: it is a worker
     */
    private function __construct(private $socket, private readonly bool $isHeld, public readonly ?Role $role)
    {
    }

    /** The value that the parent sets VARIABLE to. */
    public static function value(int $descriptor, bool $isHeld, ?Role $role): string
    {
        return implode(' ', array_filter([(string) $descriptor, $isHeld ? self::HELD : '', $role->value ?? '']));
    }

    /** Null in a process that no parent has started. */
    public static function find(): ?self
    {
        $words = explode(' ', (string) getenv(self::VARIABLE));
        // Not for the programs that a handler starts.
        putenv(self::VARIABLE);
        $socket = ctype_digit($words[0]) ? @fopen("php://fd/$words[0]", 'r+') : false;
        if ($socket === false) {
            return null;
        }
        stream_set_blocking($socket, false);

        return new self($socket, in_array(self::HELD, $words, true), Role::tryFrom(end($words)));
    }

    /**
     * Tells the parent where the worker works, whether Redis answers, and when the worker is ready. Stops it, between two jobs, when the parent
     * is gone.
     *
     * Where setpriv is, the kernel tells it at once; this is for everywhere else.
     *
     * @param array<string, mixed> $place
     */
    public function attach(DelayQueue $queue, array $place): void
    {
        $queue->on(Event::WorkerStarting, function () use ($place): void {
            if ($this->isHeld) {
                posix_kill(posix_getpid(), SIGUSR2);
            }
            $this->tell(self::PLACE . ' ' . Json::line($place));
        });
        $queue->on(Event::WorkerReady, fn () => $this->tell(self::READY));
        $queue->on(Event::ConnectionLost, fn () => $this->tell(self::AWAY));
        $queue->on(Event::ConnectionRestored, fn () => $this->tell(self::BACK));
        $between = [
            Event::Idle, Event::Succeeded, Event::Released, Event::Failed, Event::Buried, Event::LeaseLost, Event::ConnectionLost,
            Event::ConnectionRestored,
        ];
        foreach ($between as $event) {
            $queue->on($event, function () use ($queue): void {
                if ($this->isCut()) {
                    $queue->stop();
                }
            });
        }
    }

    /** For a process beside the workers. */
    public function tellReady(): void
    {
        $this->tell(self::READY);
    }

    /** @param string $json of the gauge */
    public function tellLoad(string $json): void
    {
        $this->tell(self::LOAD . " $json");
    }

    public function ended(StopReason $reason): void
    {
        match ($reason) {
            StopReason::Empty => $this->tell(self::EMPTY),
            StopReason::Ordered => $this->tell(self::STOPPED),
            default => null,
        };
    }

    private function tell(string $word): void
    {
        @fwrite($this->socket, "$word\n");
    }

    /** The parent is gone. */
    public function isCut(): bool
    {
        // The parent never writes: there is nothing to read, or the end.
        return @fread($this->socket, 1) === '' && feof($this->socket);
    }
}
