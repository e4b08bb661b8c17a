<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Support;

use DelayQueue;
use PHPUnit\Framework\TestCase;

/** A test with a Redis of its own, and children that do not outlive it. */
abstract class ProcessTestCase extends TestCase
{
    /** A machine that is busy for a moment is not what these tests are about. */
    private const PATIENT = ['readTimeout' => 60];

    protected RedisServer $redis;

    protected string $queueName;

    protected function setUp(): void
    {
        $this->redis = new RedisServer($this->redisOptions());
        // Before PHPUnit 10 there is no other name.
        $name = method_exists($this, 'nameWithDataSet') ? $this->nameWithDataSet() : $this->getName();
        $this->queueName = substr(trim(preg_replace('/\W+/', '-', $name), '-'), 0, 150);
    }

    protected function tearDown(): void
    {
        // Processes and relays die with the properties that hold them.
        foreach (array_keys(get_object_vars($this)) as $name) {
            if ($this->$name instanceof Process || $this->$name instanceof Remote) {
                $this->$name->kill();
            }
        }
        $this->redis->remove();
    }

    /** @return array<string, string> */
    protected function redisOptions(): array
    {
        return [];
    }

    /** @param array<string, mixed> $options of DelayQueue */
    protected function queue(array $options = []): DelayQueue
    {
        return new DelayQueue($this->queueName, $this->redis->dsn(), $options + self::PATIENT);
    }

    /** @param array<string, mixed> $options of DelayQueue */
    protected function remote(array $options = [], ?Relay $through = null): Remote
    {
        return new Remote(($through ?? $this->redis)->dsn(), $this->queueName, $options + self::PATIENT);
    }
}
