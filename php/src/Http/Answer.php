<?php

declare(strict_types=1);

namespace DelayQueue\Http;

use DelayQueue\Internal\Excerpt;

/**
 * The answer of a receiver.
 *
 * @internal
 */
final class Answer
{
    private const EXCERPT = 200;

    /**
     * @param array<string, list<string>> $headers by their names in lower case
     * @param string $body its beginning
     */
    public function __construct(
        public readonly int $status,
        private readonly array $headers,
        private readonly string $body,
    ) {
    }

    /** @param (callable(string, int): bool)|null $accepts asked about a 2xx */
    public function isAccepted(?callable $accepts = null): bool
    {
        return $this->status >= 200 && $this->status < 300 && ($accepts === null || $accepts($this->body, $this->status));
    }

    /** Seconds after which a busy receiver wants to be asked again; null if it did not say so. */
    public function retryAfter(): ?int
    {
        $isBusy = $this->status === 429 || $this->status === 503;

        return $isBusy ? RetryAfter::seconds($this->header('retry-after'), $this->header('date')) : null;
    }

    /** "answered 500: out of order" */
    public function reason(): string
    {
        $excerpt = Excerpt::of($this->body, self::EXCERPT);
        $reason = "answered $this->status";
        if ($this->status >= 300 && $this->status < 400) {
            $reason .= ', and redirects are not followed';
        }

        return $excerpt === '' ? $reason : "$reason: $excerpt";
    }

    private function header(string $name): ?string
    {
        return $this->headers[$name][0] ?? null;
    }
}
