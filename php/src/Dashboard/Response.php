<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard;

/** An answer, for whatever sends it. */
final class Response
{
    /** Nothing is loaded from elsewhere, nothing is inline, no other page frames this one. */
    private const SAFE = [
        'content-security-policy' => "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        'x-content-type-options' => 'nosniff',
        'referrer-policy' => 'no-referrer',
        'cache-control' => 'no-store',
    ];

    /** @var array<string, string> by their names in lower case */
    public readonly array $headers;

    /** @param array<string, string> $headers */
    public function __construct(public readonly int $status, public readonly string $body, array $headers = [])
    {
        $this->headers = $headers + self::SAFE + ['content-type' => 'text/html; charset=utf-8'];
    }

    public static function text(int $status, string $message): self
    {
        return new self($status, "$message\n", ['content-type' => 'text/plain; charset=utf-8']);
    }

    /** After a change: the browser opens a page with GET, and a reload repeats nothing. */
    public static function seeOther(string $address): self
    {
        return new self(303, '', ['location' => $address]);
    }

    /** Through PHP's own functions. */
    public function send(): void
    {
        http_response_code($this->status);
        header_remove('X-Powered-By');
        foreach ($this->headers as $name => $value) {
            header("$name: $value");
        }
        echo $this->body;
    }
}
