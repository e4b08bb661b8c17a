<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony\App;

use Psr\Log\AbstractLogger;

/** A log whose lines a test reads. */
final class Lines extends AbstractLogger
{
    public function __construct(private readonly string $file)
    {
    }

    public function log($level, $message, array $context = []): void
    {
        file_put_contents($this->file, "$level $message " . json_encode($context) . "\n", FILE_APPEND);
    }
}
