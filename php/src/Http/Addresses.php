<?php

declare(strict_types=1);

namespace DelayQueue\Http;

use Closure;
use DelayQueue\Bury;
use InvalidArgumentException;

/**
 * Finds the address to connect to, and refuses those that are not public.
 *
 * A name is resolved once for each attempt, and the connection is made to what was looked at here: a name that gives a public
 * address now and a private one a moment later gains nothing. (Symfony's NoPrivateNetworkHttpClient keeps the first address of
 * a name for as long as it lives, which a worker may do for weeks, and knows fewer ranges.)
 *
 * @internal
 */
final class Addresses
{
    /** IPv4 addresses that IANA's registry calls not globally reachable, and multicast. */
    private const NOT_PUBLIC = [
        '0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24',
        '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/3',
        // Inside the public IPv6 addresses: Teredo and other protocols, documentation, 6to4.
        '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20',
    ];

    /** All public IPv6 addresses; outside are loopback, link-local, private ones, and IPv4 addresses in various disguises. */
    private const PUBLIC_IPV6 = '2000::/3';

    /** @var list<Network> */
    private readonly array $allowed;

    /** @var list<Network> */
    private readonly array $refused;

    private readonly Network $publicIpv6;

    private readonly Closure $resolver;

    /**
     * @param list<string> $privateNetworks that may be reached all the same, as '10.1.0.0/16'
     * @param (callable(string): array<string>)|null $resolver the addresses of a name; null: the system's
     *
     * @throws InvalidArgumentException if one of them is no network
     */
    public function __construct(array $privateNetworks = [], ?callable $resolver = null)
    {
        $this->allowed = array_map(Network::parse(...), array_values($privateNetworks));
        $this->refused = array_map(Network::parse(...), self::NOT_PUBLIC);
        $this->publicIpv6 = Network::parse(self::PUBLIC_IPV6);
        $this->resolver = ($resolver ?? self::lookUp(...))(...);
    }

    /**
     * The address for the n-th attempt: where there are several, one after the other.
     *
     * @param positive-int $attempt
     *
     * @throws Bury if one of them is not public and not allowed
     * @throws DeliveryFailed if the name has no address now
     */
    public function of(Endpoint $endpoint, int $attempt): string
    {
        $literal = $endpoint->address();
        $found = array_values($literal === null ? ($this->resolver)($endpoint->host) : [$literal]);
        if ($found === []) {
            throw new DeliveryFailed("{$endpoint->origin()}: its host has no address");
        }
        // IPv6 only where there is nothing else: many machines have no way out with it.
        $found = array_values(array_filter($found, static fn (string $address): bool => !str_contains($address, ':'))) ?: $found;
        foreach ($found as $address) {
            if (!$this->mayReach($address)) {
                throw new Bury("the URL is not accepted: {$endpoint->origin()} is at $address, which is not a public address");
            }
        }

        return $found[($attempt - 1) % count($found)];
    }

    public function mayReach(string $address): bool
    {
        if (!filter_var($address, FILTER_VALIDATE_IP)) {
            return false;
        }
        foreach ($this->allowed as $network) {
            if ($network->contains($address)) {
                return true;
            }
        }
        foreach ($this->refused as $network) {
            if ($network->contains($address)) {
                return false;
            }
        }

        return !str_contains($address, ':') || $this->publicIpv6->contains($address);
    }

    /** @return list<string> */
    private static function lookUp(string $host): array
    {
        if (!function_exists('socket_addrinfo_lookup')) {
            return gethostbynamel($host) ?: []; // IPv4 alone
        }
        $found = @socket_addrinfo_lookup($host, null, ['ai_socktype' => SOCK_STREAM]) ?: [];
        $addresses = array_map(static function (\AddressInfo $info): string {
            $address = socket_addrinfo_explain($info)['ai_addr'];

            return $address['sin_addr'] ?? $address['sin6_addr'];
        }, $found);

        return array_values(array_unique($addresses));
    }
}
