<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel\Support;

use Illuminate\Contracts\Console\Kernel;
use Illuminate\Foundation\Application;
use Illuminate\Foundation\Testing\DatabaseTransactions;
use Illuminate\Foundation\Testing\RefreshDatabase;
use Illuminate\Foundation\Testing\RefreshDatabaseState;

/** Does around a test as Laravel's own test case does with one of its traits. */
abstract class TestTransaction
{
    /** @var list<callable(): void> */
    private array $atEnd = [];

    /** @param list<string> $connectionsToTransact */
    final public function __construct(public Application $app, protected array $connectionsToTransact)
    {
    }

    /** @param class-string $trait */
    public static function begin(Application $app, string $trait): self
    {
        RefreshDatabaseState::$migrated = false;
        if ($trait === RefreshDatabase::class) {
            $test = new class ($app, ['shop']) extends TestTransaction {
                use RefreshDatabase;
            };
            $test->refreshDatabase();
        } else {
            $test = new class ($app, ['shop']) extends TestTransaction {
                use DatabaseTransactions;
            };
            $test->beginDatabaseTransaction();
        }

        return $test;
    }

    public function end(): void
    {
        foreach ($this->atEnd as $work) {
            $work();
        }
    }

    public function artisan(string $command, array $arguments = []): int
    {
        return $this->app->make(Kernel::class)->call($command, $arguments);
    }

    public function beforeApplicationDestroyed(callable $work): void
    {
        $this->atEnd[] = $work;
    }
}
