<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Support;

use RuntimeException;

/**
 * A TCP port of the loopback interface on which nobody listens. It lies below the ports that the kernel gives to outgoing connections, because one of
 * those could take it before the server does, and beside those of tests/core and tests/faults, which run at the same time.
 */
final class FreePort
{
    private const FIRST = 8_000;

    private const LAST = 10_999;

    public static function find(): int
    {
        for ($try = 0; $try < 200; $try++) {
            $port = random_int(self::FIRST, self::LAST);
            $socket = @stream_socket_server("tcp://127.0.0.1:$port");
            if ($socket !== false) {
                fclose($socket);

                return $port;
            }
        }
        throw new RuntimeException('no port is free');
    }
}
