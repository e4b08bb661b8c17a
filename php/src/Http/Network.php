<?php

declare(strict_types=1);

namespace DelayQueue\Http;

use InvalidArgumentException;

/**
 * A range of IP addresses: '10.0.0.0/8', 'fd00::/8', or one address.
 *
 * @internal
 */
final class Network
{
    private function __construct(private readonly string $prefix, private readonly int $bits)
    {
    }

    /** @throws InvalidArgumentException */
    public static function parse(string $text): self
    {
        [$address, $bits] = explode('/', $text, 2) + [1 => null];
        $packed = filter_var($address, FILTER_VALIDATE_IP) ? (string) inet_pton($address) : '';
        $longest = 8 * strlen($packed);
        if ($packed === '' || ($bits !== null && (!preg_match('/^\d{1,3}$/D', $bits) || (int) $bits > $longest))) {
            throw new InvalidArgumentException("'$text' is no network: write 10.1.0.0/16, fd00:1::/32 or one address");
        }

        return new self($packed, $bits === null ? $longest : (int) $bits);
    }

    /** An IPv4 address in IPv6 form is in no IPv4 network. */
    public function contains(string $address): bool
    {
        $packed = (string) inet_pton($address);
        if (strlen($packed) !== strlen($this->prefix)) {
            return false;
        }
        $bytes = intdiv($this->bits, 8);
        $mask = 0xff00 >> $this->bits % 8 & 0xff;

        return substr($packed, 0, $bytes) === substr($this->prefix, 0, $bytes)
            && ($mask === 0 || (ord($packed[$bytes]) & $mask) === (ord($this->prefix[$bytes]) & $mask));
    }
}
