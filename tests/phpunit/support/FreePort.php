<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Support;

/** A TCP port of the loopback interface on which nobody listens. */
final class FreePort
{
    public static function find(): int
    {
        $socket = stream_socket_server('tcp://127.0.0.1:0');
        $port = (int) substr((string) strrchr((string) stream_socket_get_name($socket, false), ':'), 1);
        fclose($socket);

        return $port;
    }
}
