<?php

declare(strict_types=1);

namespace DelayQueue\Http;

use DelayQueue\Bury;
use InvalidArgumentException;

/**
 * The hosts that notifications may be sent to.
 *
 * @internal
 */
final class Receivers
{
    /** @var list<array{string, ?int}> lower-case host, '*.' and its parent, or '*'; and a port */
    private readonly array $entries;

    /**
     * @param list<string> $hosts see Notifier
     *
     * @throws InvalidArgumentException if there is none, or one that cannot be meant
     */
    public function __construct(array $hosts, private readonly bool $allowHttp)
    {
        if ($hosts === []) {
            throw new InvalidArgumentException('no host is allowed: name those that notifications may be sent to');
        }
        $this->entries = array_map(self::entry(...), array_values($hosts));
    }

    /** @throws Bury if the URL is malformed, or its scheme, host or port is not allowed */
    public function endpoint(string $url): Endpoint
    {
        try {
            $endpoint = Endpoint::parse($url);
        } catch (InvalidArgumentException $error) {
            throw new Bury("the URL is not accepted: {$error->getMessage()}");
        }
        if ($endpoint->scheme !== 'https' && !$this->allowHttp) {
            throw new Bury("the URL is not accepted: {$endpoint->origin()} is not https");
        }
        foreach ($this->entries as [$host, $port]) {
            if (self::covers($host, $endpoint->host) && ($port === null ? $endpoint->isDefaultPort() : $endpoint->port === $port)) {
                return $endpoint;
            }
        }
        throw new Bury("the URL is not accepted: {$endpoint->origin()} is not among the allowed hosts");
    }

    private static function covers(string $entry, string $host): bool
    {
        return $entry === '*' || $entry === $host || (str_starts_with($entry, '*.') && str_ends_with($host, substr($entry, 1)));
    }

    /** @return array{string, ?int} */
    private static function entry(string $entry): array
    {
        preg_match('/^(\*\.|\*(?=:|$))?(.*)$/Ds', $entry, $match);
        [, $wildcard, $rest] = $match + ['', '', ''];
        try {
            // A bare * has no host of its own: any will do to read the port behind it.
            [$host, $port] = Endpoint::authority($wildcard === '*' ? "any$rest" : $rest);
        } catch (InvalidArgumentException) {
            throw new InvalidArgumentException("'$entry' is no allowed host: write example.com, *.example.com or example.com:8443");
        }

        return [$wildcard === '*' ? '*' : $wildcard . $host, $port];
    }
}
