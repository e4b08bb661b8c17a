<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Support;

use RuntimeException;

/** Just enough of a Redis client to look at a server from outside. */
final class RedisClient
{
    /** @var resource */
    private $stream;

    public function __construct(string $socket)
    {
        $stream = @stream_socket_client("unix://$socket", $code, $message, 2.0);
        if ($stream === false) {
            throw new RuntimeException("cannot connect to $socket: $message");
        }
        stream_set_timeout($stream, 10);
        $this->stream = $stream;
    }

    public function ask(string ...$command): mixed
    {
        $request = '*' . count($command) . "\r\n";
        foreach ($command as $argument) {
            $request .= '$' . strlen($argument) . "\r\n$argument\r\n";
        }
        if (@fwrite($this->stream, $request) !== strlen($request)) {
            throw new RuntimeException('redis-server is gone');
        }

        return $this->read();
    }

    private function read(): mixed
    {
        $line = fgets($this->stream);
        if ($line === false) {
            throw new RuntimeException('redis-server does not answer');
        }
        $rest = substr($line, 1, -2);

        return match ($line[0]) {
            '+' => $rest,
            ':' => (int) $rest,
            '$' => (int) $rest < 0 ? null : $this->bulk((int) $rest),
            '*' => array_map(fn () => $this->read(), (int) $rest > 0 ? range(1, (int) $rest) : []),
            default => throw new RuntimeException("redis-server says $rest"),
        };
    }

    private function bulk(int $length): string
    {
        $bytes = (string) stream_get_contents($this->stream, $length + 2);
        if (strlen($bytes) !== $length + 2) {
            throw new RuntimeException('redis-server broke off');
        }

        return substr($bytes, 0, -2);
    }
}
