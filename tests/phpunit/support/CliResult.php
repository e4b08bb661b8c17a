<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Support;

/** How a command ended. */
final class CliResult
{
    public function __construct(
        public readonly int $exitCode,
        public readonly string $output,
        public readonly string $errors,
    ) {
    }
}
