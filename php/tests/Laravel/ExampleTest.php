<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel;

use DelayQueue\Testing\InteractsWithDelayQueue;
use DelayQueue\Testing\RedisServer;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\Wait;
use PHPUnit\Framework\TestCase;

/** php/examples/laravel, as its README runs it, with a worker that is killed. */
final class ExampleTest extends TestCase
{
    use InteractsWithDelayQueue;

    private string $base;

    protected function setUp(): void
    {
        $this->base = sys_get_temp_dir() . '/delayqueue-shop-' . bin2hex(random_bytes(6));
        exec('cp -r ' . escapeshellarg(dirname(__DIR__, 2) . '/examples/laravel') . ' ' . escapeshellarg($this->base));
        foreach (['bootstrap/cache', 'storage/framework/cache', 'storage/logs', 'vendor/composer'] as $folder) {
            @mkdir("$this->base/$folder", 0o700, true);
        }
        touch("$this->base/database/shop.sqlite");
        $this->install();
        preg_match('#unix://(.*)\?#', RedisServer::shared()->dsn(), $found);
        putenv("REDIS_HOST=$found[1]");
        putenv('REDIS_PORT=0');
        putenv('QUEUE_RETRY_AFTER=1');
        putenv('DELAYQUEUE_DSN');
        $this->finish('vendor:publish', '--tag=delayqueue-migrations');
        $this->finish('migrate', '--force');
    }

    protected function tearDown(): void
    {
        foreach (['REDIS_HOST', 'REDIS_PORT', 'QUEUE_RETRY_AFTER', 'SHOP_PROVIDER_TAKES'] as $name) {
            putenv($name);
        }
        exec('rm -rf ' . escapeshellarg($this->base));
    }

    public function testAnUnpaidOrderIsClosedOnceAlthoughItsWorkerIsKilled(): void
    {
        $this->assertSame("1\n", $this->finish('order:place', 'teapot'));
        $this->assertSame("2\n", $this->finish('order:place', 'kettle'));
        $this->assertDelayed('order-1', delay: 900);
        $this->finish('delayqueue:reschedule', 'order-1', '1s');
        $this->finish('order:pay', '2');
        $this->assertNotPushed('order-2');

        putenv('SHOP_PROVIDER_TAKES=60');
        $killed = $this->artisan('queue:work');
        Wait::until(fn (): bool => $this->delayQueue()->peek('order-1')?->state->value === 'reserved', 20, 'a worker with order-1');
        $killed->kill();
        $this->assertSame("1 teapot open\n2 kettle paid\n", $this->finish('order:list'));

        putenv('SHOP_PROVIDER_TAKES=0');
        $worker = $this->artisan('queue:work');
        $worker->hear('order 1 attempt 2: closed', 20);
        Wait::until(fn (): bool => $this->delayQueue()->count() === 0, 10, 'an empty queue');
        $worker->signal(SIGTERM);
        $this->assertSame(0, $worker->exitCode());
        $this->assertSame("1 teapot closed\n2 kettle paid\n", $this->finish('order:list'));
    }

    public function testTheShopTakesOrdersAndPaymentsWhileRedisIsAway(): void
    {
        $this->assertSame("1\n", $this->finish('order:place', 'teapot'));
        $socket = getenv('REDIS_HOST');
        putenv("REDIS_HOST=$this->base/nowhere.sock");
        $this->assertSame("2\n", $this->finish('order:place', 'kettle'));
        $this->assertSame("3\n", $this->finish('order:place', 'cup'));
        foreach (['1', '3'] as $order) {
            $this->finish('order:pay', $order);
        }
        putenv("REDIS_HOST=$socket");
        $this->assertPushed('order-1');
        $this->finish('delayqueue:relay', '--once', '--after=0');
        $this->assertNotPushed('order-1');
        $this->assertDelayed('order-2', delay: 900);
        $this->assertNotPushed('order-3');
    }

    public function testItsSettingsCanBePublished(): void
    {
        $this->finish('vendor:publish', '--tag=delayqueue-config');
        $published = (string) file_get_contents("$this->base/config/delayqueue.php");
        $this->assertStringContainsString("'dashboard' => [", $published);
        file_put_contents("$this->base/config/delayqueue.php", str_replace("'DELAYQUEUE_DASHBOARD_PATH', 'delayqueue'", "'DELAYQUEUE_DASHBOARD_PATH', 'queues'", $published));
        $this->assertStringContainsString('queues/{path?}', $this->finish('route:list'));
    }

    /** As Composer would: the autoloader, and the list of packages. */
    private function install(): void
    {
        $bootstrap = var_export(__DIR__ . '/bootstrap.php', true);
        file_put_contents("$this->base/vendor/autoload.php", <<<PHP
            <?php
            require $bootstrap;
            spl_autoload_register(static function (string \$class): void {
                if (str_starts_with(\$class, 'App\\\\')) {
                    require dirname(__DIR__) . '/app/' . strtr(substr(\$class, 4), '\\\\', '/') . '.php';
                }
            });
            PHP);
        $package = json_decode((string) file_get_contents(dirname(__DIR__, 2) . '/composer.json'), true);
        file_put_contents("$this->base/vendor/composer/installed.json", json_encode(['packages' => [$package]]));
    }

    private function artisan(string ...$arguments): Process
    {
        return new Process([PHP_BINARY, "$this->base/artisan", ...$arguments]);
    }

    private function finish(string ...$arguments): string
    {
        $process = $this->artisan(...$arguments);
        $said = $process->rest(30);
        $this->assertSame(0, $process->exitCode(), $said . $process->errors());

        return $said;
    }
}
