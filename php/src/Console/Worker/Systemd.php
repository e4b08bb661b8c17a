<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

use DelayQueue;
use DelayQueue\Event;

/**
 * Tells systemd how the service is, where the unit has Type=notify: a datagram to the socket that NOTIFY_SOCKET names, as sd_notify(3) sends it.
 * Elsewhere it says nothing.
 */
final class Systemd
{
    private bool $isReady = false;

    private bool $isStopping = false;

    private float $toldAt = 0.0;

    /**
     * @param resource|null $socket
     * @param float $every seconds between two signs of life; 0: the unit wants none
     */
    private function __construct(private $socket, private readonly float $every)
    {
    }

    /** Of the process that systemd has started. The programs that this one starts do not hear of it. */
    public static function find(): self
    {
        [$path, $microseconds, $pid] = [(string) getenv('NOTIFY_SOCKET'), (string) getenv('WATCHDOG_USEC'), (string) getenv('WATCHDOG_PID')];
        array_map(putenv(...), ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']);
        // An @ stands for the byte 0 with which an abstract name begins.
        $address = 'udg://' . ($path !== '' && $path[0] === '@' ? "\0" . substr($path, 1) : $path);
        $socket = $path === '' ? false : @stream_socket_client($address);
        $isWatched = $socket !== false && ctype_digit($microseconds) && ($pid === '' || (int) $pid === getmypid());

        return new self($socket === false ? null : $socket, $isWatched ? (int) $microseconds / 2e6 : 0.0);
    }

    /** It wants signs of life. */
    public function isWatching(): bool
    {
        return $this->every > 0;
    }

    /** Seconds until the next sign of life is due. */
    public function next(): float
    {
        return $this->isWatching() ? max(0.0, $this->toldAt + $this->every - hrtime(true) / 1e9) : INF;
    }

    /** A sign of life, if it is time for one. */
    public function alive(): void
    {
        if ($this->next() === 0.0) {
            $this->toldAt = hrtime(true) / 1e9;
            $this->tell('WATCHDOG=1');
        }
    }

    /** For the first time, or after a reload. */
    public function ready(): void
    {
        if (!$this->isReady && !$this->isStopping) {
            $this->isReady = true;
            $this->tell('READY=1');
        }
    }

    /** Until it says that it is ready. */
    public function reloading(): void
    {
        if (!$this->isStopping) {
            $this->isReady = false;
            $this->tell("RELOADING=1\nMONOTONIC_USEC=" . intdiv(hrtime(true), 1000));
        }
    }

    public function stopping(): void
    {
        $this->isStopping || $this->tell('STOPPING=1');
        $this->isStopping = true;
    }

    /** For a worker that has no parent. */
    public function watch(DelayQueue $queue): void
    {
        $queue->on(Event::WorkerReady, fn () => $this->ready());
        $queue->on(Event::WorkerStopping, fn () => $this->stopping());
    }

    private function tell(string $words): void
    {
        $this->socket === null || @fwrite($this->socket, $words);
    }
}
