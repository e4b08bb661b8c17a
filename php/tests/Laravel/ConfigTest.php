<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel;

use DelayQueue\Laravel\Dsn;
use DelayQueue\Laravel\Prefix;
use DelayQueue\Laravel\QueueName;
use DelayQueue\Laravel\Worker;
use DelayQueue\Testing;
use DelayQueue\Tests\Laravel\Support\Deed;
use DelayQueue\Tests\Laravel\Support\LaravelTestCase;
use Illuminate\Contracts\Console\Kernel;
use InvalidArgumentException;

/** The package works with nothing but its installation. */
final class ConfigTest extends LaravelTestCase
{
    public function testTheProviderIsDiscoveredAndTheConnectionHasAllItsDefaults(): void
    {
        $this->boot([]);
        $config = $this->app['config']['queue.connections.delayqueue'];
        $this->assertSame(['default', null, 60, true, 5], [$config['connection'], $config['prefix'], $config['retry_after'], $config['heartbeat'], $config['block_for']]);
        $this->assertInstanceOf(Worker::class, $this->app['queue.worker']);
        $commands = array_keys($this->app->make(Kernel::class)->all());
        foreach (['cancel', 'import', 'reschedule', 'show', 'work'] as $command) {
            $this->assertContains("delayqueue:$command", $commands);
        }
    }

    public function testEachLineOfTheSettingsMayBeLeftOut(): void
    {
        putenv('TEST_DASHBOARD={"path":"queues"}');
        try {
            $this->boot([]);
        } finally {
            putenv('TEST_DASHBOARD');
        }
        $this->assertSame(['queues', ['web'], null, false], array_map(fn (string $key): mixed => $this->app['config']["delayqueue.dashboard.$key"], ['path', 'middleware', 'connection', 'journal']));
    }

    public function testApplicationsThatRedisPrefixKeepsApartShareNoQueue(): void
    {
        foreach (['shop_', 'blog_'] as $prefix) {
            putenv("TEST_REDIS_PREFIX=$prefix");
            $this->boot(['block_for' => 0]);
            $this->assertSame(0, $this->queue()->size());
            Deed::dispatch($prefix);
        }
        $worker = $this->start('queue:work', '--stop-when-empty');
        $this->assertSame(0, $worker->exitCode(20));
        $this->assertSame([1, 0], [$this->lines('/^end blog_/'), $this->lines('/^end shop_/')]);
        $this->assertSame(1, $this->delayQueue('default', ['prefix' => 'shop_dq'])->count());
    }

    public function testThePrefixIsThatOfTheRedisConnectionUnlessTheQueueConnectionHasOne(): void
    {
        $cases = [
            'dq' => [[], []],
            'app_database_dq' => [[], ['options' => ['prefix' => 'app_database_'], 'default' => ['host' => 'h']]],
            'own' => [['prefix' => 'own'], ['options' => ['prefix' => 'app_']]],
            'a-dq' => [[], ['options' => ['prefix' => 'b-'], 'default' => ['prefix' => 'a-']]],
            'c:dq' => [['connection' => 'jobs'], ['options' => ['prefix' => 'b-'], 'jobs' => ['options' => ['prefix' => 'c:']]]],
            'd_dq' => [['connection' => 'many'], ['options' => ['prefix' => 'b-'], 'clusters' => ['many' => [], 'options' => ['prefix' => 'd_']]]],
            '..7bapp..7ddq' => [['prefix' => ''], ['options' => ['prefix' => '{app}']]],
        ];
        foreach ($cases as $expected => [$config, $redis]) {
            $this->assertSame($expected, Prefix::of($config, $redis));
        }
        $this->expectException(InvalidArgumentException::class);
        $this->expectExceptionMessage('DELAYQUEUE_PREFIX');
        Prefix::of([], ['options' => ['prefix' => str_repeat('x', 63)]]);
    }

    public function testADsnGoesBeforeTheConnectionOfDatabaseRedis(): void
    {
        $this->boot(['connection' => 'absent', 'dsn' => ini_get('delayqueue.dsn'), 'prefix' => 'other']);
        Deed::dispatch('one');
        $this->assertSame(1, $this->delayQueue('default', ['prefix' => 'other'])->count());
    }

    public function testTheTestsOfAnApplicationNeedNoRedis(): void
    {
        putenv('DELAYQUEUE_DSN=memory://');
        Testing::forgetMemory();
        $this->boot(['block_for' => 0]);
        Deed::dispatch('later')->delay(now()->addMinutes(15));
        $this->artisan('queue:work', ['--once' => true]);
        $this->assertSame([1, 0], [$this->queue()->size(), $this->lines('/^end later/')]);
        $this->travel('15m');
        $this->artisan('queue:work', ['--once' => true]);

        $this->assertSame([0, 1], [$this->queue()->size(), $this->lines('/^end later/')]);
        $this->assertSame([], $this->delayQueue()->queues(), 'on the Redis of other tests');
    }

    public function testOptionsOfTheExtensionMayBeGiven(): void
    {
        $this->boot(['options' => ['keys' => ['k1' => str_repeat('x', 32)]], 'priority' => 7]);
        $id = $this->queue()->push(new Deed('sealed-name'));
        $info = $this->delayQueue()->peek($id);
        $this->assertStringNotContainsString('sealed-name', $info->body);
        $this->assertSame(7, $info->priority);
        $this->assertStringContainsString('sealed-name', $this->queue()->pop()->getRawBody());
    }

    public function testAConnectionThatIsNotThereIsNamed(): void
    {
        $this->expectException(InvalidArgumentException::class);
        $this->expectExceptionMessage('[absent]');
        Dsn::of(['default' => ['host' => 'h']], 'absent');
    }

    public function testTheDsnSaysWhatDatabaseRedisSays(): void
    {
        $cases = [
            'redis://127.0.0.1:6379/0' => ['host' => '127.0.0.1', 'password' => null, 'port' => '6379', 'database' => '0'],
            'redis://:p%40ss%2F@h:1/3' => ['host' => 'h', 'password' => 'p@ss/', 'port' => 1, 'database' => 3],
            'redis://me:secret@h:6379/0' => ['host' => 'h', 'username' => 'me', 'password' => 'secret'],
            'redis://user:word@example.com:6380/2' => ['url' => 'redis://user:word@example.com:6380/2'],
            'rediss://h:6379/0' => ['host' => 'h', 'scheme' => 'tls'],
            'rediss://g:6379/0' => ['host' => 'tls://g'],
            'rediss://u:6379/0?ca=%2Fca.pem' => ['url' => 'tls://u:6379?database=0', 'context' => ['stream' => ['cafile' => '/ca.pem']]],
            'redis+unix:///run/redis.sock?db=4' => ['host' => '/run/redis.sock', 'port' => 0, 'database' => 4],
            'redis+unix://:x@/run/r.sock?db=0' => ['scheme' => 'unix', 'path' => '/run/r.sock', 'password' => 'x'],
            'redis://[::1]:6379/0' => ['host' => '::1'],
        ];
        foreach ($cases as $dsn => $config) {
            $this->assertSame($dsn, Dsn::of(['default' => $config], 'default'));
            new \DelayQueue('default', $dsn === 'rediss://u:6379/0?ca=%2Fca.pem' ? 'rediss://u:6379/0' : $dsn);
        }
        $nodes = [['host' => 'a', 'port' => 7000, 'password' => 'x'], ['host' => 'b', 'port' => 7001]];
        $this->assertSame('redis+cluster://:x@a:7000,b:7001', Dsn::of(['clusters' => ['many' => $nodes]], 'many'));
    }

    public function testNamesOfQueuesAreEncodedReversibly(): void
    {
        foreach (['default', 'a.b', '..', '.{', '..7b', 'a..', "\0\xff", '....'] as $name) {
            $encoded = QueueName::encode($name);
            $this->assertMatchesRegularExpression('/^[A-Za-z0-9._:-]+$/D', $encoded);
            $this->assertSame($name, QueueName::decode($encoded));
        }
        $this->assertSame('a.b:c-d_e', QueueName::encode('a.b:c-d_e'));
    }
}
