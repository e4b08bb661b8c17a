<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony;

use DelayQueue\Tests\Symfony\App\DashboardKernel;
use Symfony\Component\Filesystem\Filesystem;
use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\HttpFoundation\Response;

/** The dashboard in an application of Symfony, through its HttpKernel and firewall. */
final class DashboardTest extends MessengerTestCase
{
    private const ROLES = ['role_read' => 'ROLE_VIEW', 'role_write' => 'ROLE_CHANGE'];

    private const FROM_HERE = ['HTTP_SEC_FETCH_SITE' => 'same-origin'];

    private ?DashboardKernel $dashboard = null;

    protected function tearDown(): void
    {
        $this->dashboard?->shutdown();
        (new Filesystem())->remove(glob($this->file('cache-*')) ?: []);
        parent::tearDown();
    }

    public function testItIsClosedUnlessARoleMayRead(): void
    {
        $this->boot([]);
        $this->assertSame(403, $this->get('', 'ann')->getStatusCode());
        $this->boot(['role_write' => 'ROLE_CHANGE']);
        foreach (['', '/', '/queue', '/style.css', '/nowhere'] as $path) {
            $this->assertSame(403, $this->get($path, 'ann')->getStatusCode(), $path);
        }
    }

    public function testItStaysClosedWithoutSecurityOrAFirewall(): void
    {
        $this->boot(self::ROLES, hasSecurity: false);
        $this->assertSame(403, $this->get('')->getStatusCode());
        $this->boot(self::ROLES, hasFirewall: false);
        $this->assertSame(403, $this->get('', 'ann')->getStatusCode());
    }

    public function testTheRolesOfTheUserDecide(): void
    {
        $this->jobs('orders')->push('1', delay: 600, id: 'order-1');
        $this->jobs('of-this-test')->push('1');
        $this->boot(self::ROLES);
        foreach ([null, 'eve'] as $nobody) {
            $this->assertSame(403, $this->get('', $nobody)->getStatusCode());
        }
        $page = $this->get('', 'bob');
        $this->assertSame([200, 'text/html; charset=utf-8'], [$page->getStatusCode(), $page->headers->get('content-type')]);
        $this->assertStringContainsString('href="/_delayqueue/style.css"', (string) $page->getContent());
        $this->assertStringContainsString('/_delayqueue/queue?queue=of-this-test', (string) $page->getContent());
        $this->assertStringContainsString("default-src 'none'", (string) $page->headers->get('content-security-policy'));
        $this->assertStringStartsWith('text/css', (string) $this->get('/style.css', 'bob')->headers->get('content-type'));
        $this->assertStringNotContainsString('method="post"', (string) $this->get('/job?queue=orders&id=order-1', 'bob')->getContent());
        $this->assertSame(403, $this->cancel('order-1', 'bob', self::FROM_HERE)->getStatusCode());
        $this->assertNotNull($this->jobs('orders')->peek('order-1'));
    }

    public function testAChangeComesFromAPageOfThisSiteAndIsLogged(): void
    {
        $this->jobs('orders')->push('1', delay: 600, id: 'order-1');
        $this->boot(self::ROLES);
        $this->assertSame(403, $this->cancel('order-1', 'ann', [])->getStatusCode());
        $answer = $this->cancel('order-1', 'ann', self::FROM_HERE);
        $this->assertSame([303, '/_delayqueue/job?queue=orders&id=order-1&told=cancelled'], [$answer->getStatusCode(), $answer->headers->get('location')]);
        $this->assertNull($this->jobs('orders')->peek('order-1'));
        $this->assertStringContainsString('info delayqueue dashboard: cancelled, queue orders, id order-1 {"user":"ann"}', (string) file_get_contents($this->file('log')));
    }

    public function testAPayloadIsPushedAsJson(): void
    {
        $this->boot(self::ROLES);
        $this->assertSame(303, $this->post('/job/push', ['queue' => 'orders', 'id' => 'a', 'payload' => '{"n":{}}', 'delay' => '1h'], 'ann', self::FROM_HERE)->getStatusCode());
        $this->assertSame('{"n":{}}', $this->jobs('orders')->peek('a')->body);
    }

    public function testItHasTheRedisAndPrefixOfTheTransportThatIsNamed(): void
    {
        $this->delayQueue('elsewhere', ['prefix' => 'second', 'format' => 'raw'])->push('1', id: 'order-2');
        $this->boot(['transport' => 'elsewhere'] + self::ROLES);
        $this->assertStringContainsString('action="/_delayqueue/job/cancel"', (string) $this->get('/job?queue=elsewhere&id=order-2', 'ann')->getContent());
        $this->boot(self::ROLES);
        $this->assertStringContainsString(
            'There is no queue elsewhere',
            (string) $this->get('/job?queue=elsewhere&id=order-2', 'ann')->getContent(),
        );
    }

    /** @param array<string, mixed> $dashboard */
    private function boot(array $dashboard, bool $hasSecurity = true, bool $hasFirewall = true): void
    {
        $this->dashboard?->shutdown();
        $this->dashboard = new DashboardKernel($dashboard, $hasSecurity, $hasFirewall);
    }

    private function get(string $path, ?string $user = null): Response
    {
        return $this->dashboard->handle(Request::create("/_delayqueue$path", 'GET', [], [], [], self::login($user)));
    }

    /** @param array<string, string> $server */
    private function cancel(string $id, string $user, array $server): Response
    {
        return $this->post('/job/cancel', ['queue' => 'orders', 'id' => $id], $user, $server);
    }

    /**
     * @param array<string, string> $form
     * @param array<string, string> $server
     */
    private function post(string $path, array $form, string $user, array $server): Response
    {
        return $this->dashboard->handle(Request::create("/_delayqueue$path", 'POST', $form, [], [], $server + self::login($user), http_build_query($form)));
    }

    /** @return array<string, string> */
    private static function login(?string $user): array
    {
        return $user === null ? [] : ['PHP_AUTH_USER' => $user, 'PHP_AUTH_PW' => 'secret'];
    }
}
