<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel\Support;

use DelayQueue\Database\Schema;
use DelayQueue\Laravel\Database\LaravelConnection;
use DelayQueue\State;
use DelayQueue\Tests\Database\Support\DatabaseServer;
use Illuminate\Database\Connection;

/** An application whose jobs go through the outbox of its database connection "shop". */
abstract class OutboxTestCase extends LaravelTestCase
{
    /** Nothing listens there. */
    protected const AWAY = 'redis+unix:///nowhere/redis.sock';

    protected function tearDown(): void
    {
        parent::tearDown();
        DatabaseServer::dropAll();
    }

    /**
     * What DATABASES names, else PostgreSQL, else SQLite: the Debians of newer frameworks have no other.
     *
     * @return iterable<string, array{string}>
     */
    public static function databases(): iterable
    {
        $there = glob('/usr/lib/postgresql/*/bin/postgres') === [] ? 'sqlite' : 'postgresql';
        foreach (DatabaseServer::chosen() ?: [$there] as $name) {
            yield $name => [$name];
        }
    }

    /** @param array<string, mixed> $connection what the queue connection says beside it */
    protected function bootOutbox(string $database = 'sqlite', array $connection = []): void
    {
        $server = DatabaseServer::named($database);
        $name = $server->fresh();
        putenv('TEST_DATABASE=' . json_encode($server->driver() === 'sqlite'
            ? ['driver' => 'sqlite', 'database' => substr($server->dsn($name), strlen('sqlite:'))]
            : ['driver' => $server->driver(), 'database' => $name, 'username' => $server->user(), 'password' => $server->password()]
                + ($server->driver() === 'pgsql' ? ['host' => $server->socket(), 'charset' => 'utf8'] : ['unix_socket' => $server->socket()])));
        $this->bootWithOutbox($connection);
        Schema::install(new LaravelConnection($this->app['db'], 'shop'), jobs: true);
        $this->shop()->statement('create table orders (name varchar(40))');
    }

    /** @param array<string, mixed> $connection */
    protected function bootWithOutbox(array $connection = []): void
    {
        $this->boot($connection + ['outbox' => 'shop', 'block_for' => 0]);
    }

    /** With a Redis that cannot be reached. */
    protected function bootWithoutRedis(): void
    {
        $this->bootWithOutbox(['dsn' => self::AWAY]);
    }

    protected function shop(): Connection
    {
        return $this->app['db']->connection('shop');
    }

    protected function order(string $name): void
    {
        $this->shop()->insert('insert into orders (name) values (?)', [$name]);
    }

    /** The rows of the outbox. */
    protected function rows(): int
    {
        return (int) $this->shop()->select('select count(*) as count from delayqueue_outbox')[0]->count;
    }

    /** All jobs of the queue in Redis, as another program sees them. */
    protected function arrived(): int
    {
        return $this->delayQueue()->count();
    }

    /** @return list<string> the names of the deeds that wait in Redis */
    protected function names(): array
    {
        $jobs = [...$this->delayQueue()->list(State::Ready), ...$this->delayQueue()->list(State::Delayed)];

        return array_map(static fn ($job): string => unserialize(json_decode($job->body, true)['data']['command'])->name, $jobs);
    }

    protected function relay(int $exitCode = 0): string
    {
        return $this->artisan('delayqueue:relay', ['--once' => true, '--after' => '0'], $exitCode);
    }

    /** Laravel calls back in the transactions of tests: from 9.17 on. */
    protected function callsBackInTests(): bool
    {
        return method_exists($this->app['db.transactions'], 'callbackApplicableTransactions');
    }
}
