<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Faults\Support;

use RuntimeException;

/**
 * Ports of the loopback interface that nobody listens on, below those that the kernel gives to connections. The tests of the core, which run at the
 * same time, take theirs from 11000 to 15999.
 */
final class Ports
{
    /** The bus of a cluster node listens so far above its port. */
    public const BUS = 10_000;

    /** @var array<int, true> */
    private static array $given = [];

    public static function free(): int
    {
        for ($try = 0; $try < 200; $try++) {
            $port = random_int(16_000, 20_999);
            if (!isset(self::$given[$port]) && self::isFree($port) && self::isFree($port + self::BUS)) {
                self::$given[$port] = true;

                return $port;
            }
        }
        throw new RuntimeException('no port is free');
    }

    private static function isFree(int $port): bool
    {
        $socket = @stream_socket_server("tcp://127.0.0.1:$port");

        return $socket !== false && fclose($socket);
    }
}
