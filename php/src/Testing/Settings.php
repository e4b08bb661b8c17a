<?php

declare(strict_types=1);

namespace DelayQueue\Testing;

use DelayQueue\Testing;
use RuntimeException;

/**
 * The DSN of a test, for the extension and in the environment, and the leave to move time; undone by restore(). memory:// is emptied.
 *
 * @internal
 */
final class Settings
{
    /** @var array<string, string> ini settings as they were before */
    private array $before = [];

    private readonly string|false $environment;

    public function __construct(string $dsn)
    {
        if (!extension_loaded('delayqueue')) {
            throw new RuntimeException('the delayqueue extension is not loaded: add extension=delayqueue to php.ini');
        }
        foreach (['delayqueue.dsn' => $dsn, 'delayqueue.testing' => '1'] as $name => $value) {
            $before = ini_set($name, $value);
            if ($before === false) {
                throw new RuntimeException("$name is fixed by php_admin_value: leave it open where tests run");
            }
            $this->before[$name] = $before;
        }
        $this->environment = getenv('DELAYQUEUE_DSN');
        putenv("DELAYQUEUE_DSN=$dsn");
        if ($dsn === 'memory://') {
            Testing::forgetMemory();
        }
    }

    public function restore(): void
    {
        ini_set('delayqueue.testing', '1');
        Testing::travelBack();
        foreach ($this->before as $name => $value) {
            ini_set($name, $value);
        }
        putenv($this->environment === false ? 'DELAYQUEUE_DSN' : "DELAYQUEUE_DSN=$this->environment");
    }
}
