<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DelayQueue;
use DelayQueue\Tests\Support\Fpm;
use DelayQueue\Tests\Support\ProcessTestCase;
use DelayQueue\Tests\Support\Response;

/** php/examples/dashboard under php-fpm, asked as nginx asks it. */
final class DashboardExampleTest extends ProcessTestCase
{
    private const PAGE = __DIR__ . '/../../php/examples/dashboard/delayqueue.php';

    private ?Fpm $fpm = null;

    private DelayQueue $queue;

    protected function setUp(): void
    {
        parent::setUp();
        $this->queue = new DelayQueue('orders', $this->redis->dsn());
        $this->queue->push(1, delay: 600, id: 'order-1');
        $this->fpm = new Fpm($this->redis->folder, ['env[DELAYQUEUE_DSN]' => "\"{$this->redis->dsn()}\"", 'php_value[session.save_path]' => $this->redis->folder->path]);
    }

    protected function tearDown(): void
    {
        $this->fpm?->stop();
        parent::tearDown();
    }

    public function testTheSessionOfTheApplicationDecidesWhoMayDoWhat(): void
    {
        foreach (['admin', 'support', 'customer'] as $role) {
            file_put_contents("{$this->redis->folder->path}/sess_of$role", 'user|s:3:"ann";role|' . serialize($role));
        }
        foreach ([null, 'customer', 'unknown'] as $stranger) {
            $this->assertStringContainsString('Status: 403', $this->ask('/delayqueue', $stranger)->headers);
        }
        $page = $this->ask('/delayqueue', 'support');
        $this->assertStringNotContainsString('Status:', $page->headers);
        $this->assertStringContainsString('href="/delayqueue/style.css"', $page->body);
        $this->assertStringContainsString('href="/delayqueue/queue?queue=orders"', $page->body);
        $this->assertStringContainsString('text/css', $this->ask('/delayqueue/style.css', 'support')->headers);

        $this->assertStringContainsString('Status: 403', $this->cancel('support', ['HTTP_SEC_FETCH_SITE' => 'same-origin'])->headers);
        $this->assertStringContainsString('Status: 403', $this->cancel('admin', [])->headers);
        $this->assertNotNull($this->queue->peek('order-1'));
        $this->assertStringContainsString('Status: 303', $this->cancel('admin', ['HTTP_SEC_FETCH_SITE' => 'same-origin'])->headers);
        $this->assertNull($this->queue->peek('order-1'));
        $this->assertStringContainsString('ann has cancelled, queue orders, id order-1', (string) file_get_contents("{$this->redis->folder->path}/php.log"));
    }

    private function ask(string $address, ?string $role): Response
    {
        return $this->fpm->begin((string) realpath(self::PAGE), [], ['REQUEST_URI' => $address] + self::cookie($role))->response();
    }

    /** @param array<string, string> $headers */
    private function cancel(string $role, array $headers): Response
    {
        $form = ['queue' => 'orders', 'id' => 'order-1'];

        return $this->fpm->begin((string) realpath(self::PAGE), [], ['REQUEST_URI' => '/delayqueue/job/cancel'] + $headers + self::cookie($role), $form)->response();
    }

    /** @return array<string, string> */
    private static function cookie(?string $role): array
    {
        return $role === null ? [] : ['HTTP_COOKIE' => "PHPSESSID=of$role"];
    }
}
