<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard;

/** A request as the dashboard needs it, whatever has received it. */
final class Request
{
    /** Bytes of a parameter. Ids and names of queues are shorter, and pages repeat parameters in their links. */
    private const LONGEST = 1_000;

    /**
     * @param string $path below the place of the dashboard: '/queue'
     * @param array<array-key, mixed> $query
     * @param array<array-key, mixed> $form
     * @param array<string, string> $headers by their names in lower case
     * @param string $base what stands before the path in links: '/delayqueue', or ''
     * @param string|null $user for the log of changes
     */
    public function __construct(
        public readonly string $method,
        public readonly string $path,
        private readonly array $query = [],
        private readonly array $form = [],
        private readonly array $headers = [],
        public readonly string $base = '',
        public readonly ?string $user = null,
    ) {
    }

    /** The request of PHP's own server interfaces: php-fpm, its web server, Apache. */
    public static function fromGlobals(string $base = '', ?string $user = null): self
    {
        $headers = [];
        foreach ($_SERVER as $name => $value) {
            if (is_string($value) && str_starts_with((string) $name, 'HTTP_')) {
                $headers[strtolower(strtr(substr($name, 5), '_', '-'))] = $value;
            }
        }
        $path = (string) parse_url('http://host' . $_SERVER['REQUEST_URI'], PHP_URL_PATH);

        return new self($_SERVER['REQUEST_METHOD'], self::below($base, $path), $_GET, $_POST, $headers, $base, $user);
    }

    /** The path of a page, of an address that begins with the place of the dashboard. */
    public static function below(string $base, string $path): string
    {
        $below = str_starts_with("$path/", "$base/") ? substr($path, strlen($base)) : $path;

        return '/' . ltrim(rawurldecode($below), '/');
    }

    /** A parameter of the address; null where it is missing, empty, or no text. */
    public function query(string $name): ?string
    {
        return self::text($this->query[$name] ?? null);
    }

    /** A parameter of the address is longer than any that pages link to. */
    public function isTooLong(): bool
    {
        return array_filter($this->query, static fn (mixed $value): bool => is_string($value) && strlen($value) > self::LONGEST) !== [];
    }

    /** A field of a form. */
    public function field(string $name): ?string
    {
        return self::text($this->form[$name] ?? null);
    }

    /** @return array<string, string> the parameters of the address, without those that are no text */
    public function parameters(): array
    {
        $texts = array_filter($this->query, static fn (mixed $value): bool => is_string($value) && $value !== '');

        return array_combine(array_map(strval(...), array_keys($texts)), $texts);
    }

    public function header(string $name): string
    {
        return $this->headers[$name] ?? '';
    }

    /** A page of another site cannot make such a request: the browser says where it comes from. */
    public function isOfThisSite(): bool
    {
        $site = $this->header('sec-fetch-site');
        $origin = parse_url($this->header('origin'));

        return $site !== '' ? $site === 'same-origin' : is_array($origin) && isset($origin['host'])
            && strcasecmp($origin['host'] . (isset($origin['port']) ? ":{$origin['port']}" : ''), $this->header('host')) === 0;
    }

    private static function text(mixed $value): ?string
    {
        return is_string($value) && $value !== '' ? $value : null;
    }
}
