<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Support;

/** The answer of a page. */
final class Response
{
    public function __construct(
        /** False when the worker went away in the middle. */
        public readonly bool $finished,
        public readonly string $headers,
        public readonly string $body,
        public readonly string $errors,
    ) {
    }
}
