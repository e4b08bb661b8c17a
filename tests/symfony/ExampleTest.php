<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony;

use DelayQueue\Tests\Support\Process;
use PDO;

/** The application under php/examples/symfony/, with workers, SQLite and Redis, all of them real. */
final class ExampleTest extends MessengerTestCase
{
    public function testUnpaidOrdersAreClosedOnceAlthoughAWorkerIsKilled(): void
    {
        $paid = $this->shop('shop:place', '900');
        $this->assertSame("$paid is paid", $this->shop('shop:pay', $paid));
        $this->assertSame(0, $this->jobs('orders')->count());

        $orders = array_map(fn (): string => $this->shop('shop:place', '0.2'), range(1, 3));
        $killed = $this->console(['messenger:consume', 'orders'], ['SHOP_PAUSE' => '60']);
        $this->until(static fn () => str_contains($killed->errors(), 'closing order-'), 'a worker begins');
        $killed->kill();

        $this->console(['messenger:consume', 'orders']);
        $this->until(fn () => $this->jobs('orders')->count() === 0, 'all are closed');
        $this->assertSame([$paid => 'paid'] + array_fill_keys($orders, 'closed'), $this->states());
        $this->assertSame(999, (int) $this->database()->query('SELECT pieces FROM stock')->fetchColumn());
    }

    private function shop(string ...$arguments): string
    {
        $process = $this->console($arguments);
        $said = trim($process->rest(60));
        $this->assertSame(0, $process->exitCode(60), $said . $process->errors());

        return $said;
    }

    /**
     * @param list<string> $arguments
     * @param array<string, string> $environment
     */
    private function console(array $arguments, array $environment = []): Process
    {
        return $this->program(dirname(__DIR__, 2) . '/php/examples/symfony/bin/console', $arguments, $environment + [
            'MESSENGER_TRANSPORT_DSN' => $this->dsn(), 'SHOP_DATABASE' => $this->file('shop.sqlite'), 'APP_ENV' => 'prod',
        ]);
    }

    private function database(): PDO
    {
        return new PDO('sqlite:' . $this->file('shop.sqlite'));
    }

    /** @return array<string, string> */
    private function states(): array
    {
        return $this->database()->query("SELECT 'order-' || number, state FROM orders ORDER BY number")->fetchAll(PDO::FETCH_KEY_PAIR);
    }
}
