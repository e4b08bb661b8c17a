<?php

declare(strict_types=1);

namespace DelayQueue\Http;

use InvalidArgumentException;

/**
 * Where a notification goes. Parsed narrowly, so that no other parser on the way can read another host in it.
 *
 * @internal
 */
final class Endpoint
{
    private const PORTS = ['http' => 80, 'https' => 443];

    /** @param string $host lower case; an IPv6 address in brackets */
    private function __construct(
        public readonly string $scheme,
        public readonly string $host,
        public readonly int $port,
        private readonly string $rest,
    ) {
    }

    /** @throws InvalidArgumentException that does not repeat the URL: its path and query may hold secrets */
    public static function parse(string $url): self
    {
        if (preg_match('/[^!-~]|\\\\/', $url)) {
            throw new InvalidArgumentException('there are characters in it that have to be percent-encoded');
        }
        if (!preg_match('~^(https?)://([^/?#]+)([^#]*)~i', $url, $match)) {
            throw new InvalidArgumentException('it does not begin with https:// or http:// and a host');
        }
        [, $scheme, $authority, $rest] = $match;
        if (str_contains($authority, '@')) {
            throw new InvalidArgumentException('there is a user name in it');
        }
        $scheme = strtolower($scheme);
        [$host, $port] = self::authority($authority);

        return new self($scheme, $host, $port ?? self::PORTS[$scheme], str_starts_with($rest, '/') ? $rest : "/$rest");
    }

    /**
     * @param string $authority host or host:port
     *
     * @return array{string, ?int}
     */
    public static function authority(string $authority): array
    {
        if (!preg_match('/^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/D', strtolower($authority), $match)) {
            throw new InvalidArgumentException('there is no valid host and port in it');
        }
        $port = isset($match[2]) ? (int) $match[2] : null;
        if ($port !== null && ($port === 0 || $port > 65535)) {
            throw new InvalidArgumentException('there is no valid port in it');
        }

        return [self::host($match[1]), $port];
    }

    public function url(): string
    {
        return $this->origin() . $this->rest;
    }

    /** Its part without secrets: scheme, host, and the port if it is not the scheme's own. */
    public function origin(): string
    {
        $port = $this->isDefaultPort() ? '' : ":$this->port";

        return "$this->scheme://$this->host$port";
    }

    public function isDefaultPort(): bool
    {
        return $this->port === self::PORTS[$this->scheme];
    }

    /** The address if the host is one instead of a name. */
    public function address(): ?string
    {
        return filter_var(trim($this->host, '[]'), FILTER_VALIDATE_IP) ?: null;
    }

    private static function host(string $host): string
    {
        if (str_starts_with($host, '[')) {
            $address = filter_var(substr($host, 1, -1), FILTER_VALIDATE_IP, FILTER_FLAG_IPV6);
            if ($address === false) {
                throw new InvalidArgumentException('there is no valid IPv6 address between its brackets');
            }

            return '[' . inet_ntop((string) inet_pton($address)) . ']';
        }
        if (!preg_match('/^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/D', $host)) {
            throw new InvalidArgumentException('there is no valid host in it (international names are written in their xn-- form)');
        }
        // Resolvers read 2130706433, 0x7f.1 and 127.1 as addresses: only the usual form of one is accepted.
        if (preg_match('/(?:^|\.)(?:\d+|0x[0-9a-f]*)$/D', $host) && !filter_var($host, FILTER_VALIDATE_IP, FILTER_FLAG_IPV4)) {
            throw new InvalidArgumentException('its host is a number, and not an IPv4 address in the usual form');
        }

        return $host;
    }
}
