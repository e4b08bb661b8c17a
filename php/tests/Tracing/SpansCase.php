<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Tracing;

use DelayQueue\Tests\OnAnyStore;
use OpenTelemetry\API\Globals;
use PHPUnit\Framework\TestCase;

/** In a PHP with OpenTelemetry: here its stand-in. Each test needs a process of its own, because other tests are about PHPs without it. */
abstract class SpansCase extends TestCase
{
    use OnAnyStore;

    protected Tracer $tracer;

    protected function setUp(): void
    {
        require_once __DIR__ . '/OpenTelemetry/interfaces.php';
        require_once __DIR__ . '/OpenTelemetry/classes.php';
        Globals::$provider = $this->tracer = new Tracer();
    }
}
