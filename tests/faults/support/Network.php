<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Faults\Support;

use DelayQueue\Tests\Support\Process;

/** The network between 'box1' … 'box9' and 'client': see programs/switch.php. */
final class Network
{
    private Process $switch;

    public function __construct()
    {
        $this->switch = new Process([PHP_BINARY, '-n', dirname(__DIR__) . '/programs/switch.php']);
        $this->switch->hear('ready');
    }

    /** The port under which others reach a server of this box. */
    public function link(int $port, int $box): int
    {
        $front = Ports::free();
        $this->tell('link', $front, $port, "box$box");

        return $front;
    }

    /** The setting of a server that lets its connections come from its box. */
    public static function source(int $box): string
    {
        return "bind-source-addr 127.0.1.$box";
    }

    /**
     * @param list<string> $one
     * @param list<string> $other
     */
    public function part(array $one, array $other): void
    {
        $this->tell('part', $one, $other);
    }

    /** Bytes on their way between parted sides are lost. */
    public function drop(): void
    {
        $this->tell('drop');
    }

    public function join(): void
    {
        $this->tell('join');
    }

    /** Replies come one byte at a time, so many milliseconds apart. */
    public function slow(int $ms): void
    {
        $this->tell('slow', $ms);
    }

    /** Each connection that is open is closed after so many bytes of replies. */
    public function cutAfter(int $bytes): void
    {
        $this->tell('cut', $bytes);
    }

    public function stop(): void
    {
        $this->switch->kill();
    }

    private function tell(mixed ...$command): void
    {
        $this->switch->say(json_encode($command));
        $this->switch->hear('ok');
    }
}
