<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony;

use DelayQueue\Database\Schema;
use DelayQueue\Symfony\Database\DbalConnection;
use DelayQueue\Symfony\Transport\Transport;
use DelayQueue\Symfony\Transport\TransportFactory;
use DelayQueue\Tests\Database\Support\DatabaseServer;
use DelayQueue\Tests\Database\Support\OnEachDatabase;
use Doctrine\DBAL\Configuration;
use Doctrine\DBAL\Connection;
use Symfony\Component\DependencyInjection\ServiceLocator;
use Symfony\Component\Messenger\MessageBusInterface;
use Symfony\Component\Messenger\Transport\Serialization\PhpSerializer;

/** An application with a database: one of those that are here, its own and empty but for the tables of the database side and the table effects. */
abstract class DatabaseMessengerTestCase extends MessengerTestCase
{
    use OnEachDatabase;

    private ?DatabaseServer $server = null;

    private string $url = '';

    protected function useDatabase(string $name): void
    {
        $this->server = DatabaseServer::named($name);
        $this->url = self::url($this->server, $this->server->fresh());
        $this->setEnvironment($this->environment());
        $database = $this->other();
        Schema::install(new DbalConnection($database), jobs: true);
        $id = ['sqlite' => 'integer primary key autoincrement', 'pgsql' => 'serial primary key', 'mysql' => 'int auto_increment primary key'][$this->server->driver()];
        $database->executeStatement("create table effects (id $id, name varchar(255) not null)");
    }

    /** The connection of the application in this process. */
    protected function database(): Connection
    {
        $connection = $this->service('doctrine.dbal.default_connection');
        $this->assertInstanceOf(Connection::class, $connection);

        return $connection;
    }

    /** Another connection to the same database. */
    protected function other(?Configuration $configuration = null): Connection
    {
        return App\DoctrineStandIn::connect($this->url, $configuration ?? new Configuration());
    }

    protected function rows(string $table = Schema::OUTBOX): int
    {
        $other = $this->other();
        try {
            return (int) $other->fetchOne("select count(*) from $table");
        } finally {
            $other->close(); // Tests look often, and a server has few places.
        }
    }

    /** Whoever waits for five seconds before a relay takes a row, does not here. */
    protected function relay(string ...$options): string
    {
        return $this->command('delayqueue:relay', '--once', '--after=0', ...$options);
    }

    /** Places an order in a process that is killed between commit and flush. */
    protected function dieAtCommit(string $name): void
    {
        $order = $this->program(__DIR__ . '/../app/console.php', ['shop:order', $name], ['DIE_AT_COMMIT' => '1']);
        $this->assertSame(SIGKILL, $order->endedBy(60), $order->errors());
    }

    protected function bus(): MessageBusInterface
    {
        return $this->service('test.bus');
    }

    /**
     * A transport with an outbox on the application's connection; on the one called bare, which tells of no commits, when $options say so.
     *
     * @param array<string, mixed> $options
     */
    protected function shop(string $dsn, array $options = []): Transport
    {
        $connections = new ServiceLocator(['default' => fn () => $this->database(), 'bare' => fn () => $this->other()]);
        $options += ['transport_name' => 'shop', 'outbox' => 'default'];

        return (new TransportFactory([], null, $connections))->createTransport($dsn, $options, new PhpSerializer());
    }

    protected function environment(): array
    {
        return ['APP_ENV' => 'shop', 'DATABASE_URL' => $this->url] + parent::environment();
    }

    private static function url(DatabaseServer $server, string $database): string
    {
        $place = "{$server->user()}:" . rawurlencode((string) $server->password()) . "@localhost/$database";
        $socket = rawurlencode((string) $server->socket());

        return match ($server->driver()) {
            'sqlite' => 'sqlite:///' . substr($server->dsn($database), strlen('sqlite:')),
            'pgsql' => "pgsql://$place?host=$socket",
            'mysql' => "mysql://$place?unix_socket=$socket&charset=utf8mb4",
        };
    }
}
