<?php

declare(strict_types=1);

namespace DelayQueue\Console;

/** An address and a port to listen on. */
final class Listen
{
    public const LAST_PORT = 65535;

    /**
     * @param string $option that has it
     * @param int $usual port, for the error
     *
     * @return string its host; an IPv6 address is in brackets
     *
     * @throws UsageException
     */
    public static function host(string $listen, string $option, int $usual): string
    {
        $isAddress = preg_match('/^(\[[\da-f:.]+]|[^:\/\s]+):([1-9]\d{0,4})$/iD', $listen, $found) === 1;
        if (!$isAddress || (int) $found[2] > self::LAST_PORT) {
            throw new UsageException("$option must be an address and a port, such as 127.0.0.1:$usual, not $listen");
        }

        return $found[1];
    }
}
