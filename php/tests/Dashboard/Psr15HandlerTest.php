<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Dashboard;

use DelayQueue\Dashboard\Access;
use DelayQueue\Dashboard\Handler;
use DelayQueue\Dashboard\Psr15Handler;
use DelayQueue\Dashboard\Request;
use DelayQueue\Tests\OnAnyStore;
use Nyholm\Psr7\Factory\Psr17Factory;
use Nyholm\Psr7\ServerRequest;
use PHPUnit\Framework\TestCase;

/** The dashboard behind PSR-15, with a real PSR-7. */
interface_exists(\Psr\Http\Server\RequestHandlerInterface::class) || require __DIR__ . '/standins/RequestHandlerInterface.php';
class_exists(Psr17Factory::class) || require '/usr/share/php/Nyholm/Psr7/autoload.php';

final class Psr15HandlerTest extends TestCase
{
    use OnAnyStore;

    public function testItServesPagesBelowItsPlaceAndTakesChanges(): void
    {
        $queue = $this->delayQueue();
        $queue->push(1, id: 'a b');
        $users = [];
        $handler = new Handler($queue, static function (Request $request) use (&$users): Access {
            $users[] = $request->user;

            return Access::Write;
        });
        $factory = new Psr17Factory();
        $mounted = new Psr15Handler($handler, $factory, $factory, '/admin/queues', 'user');
        $page = $mounted->handle((new ServerRequest('GET', '/admin/queues/job'))->withQueryParams(['queue' => $queue->name(), 'id' => 'a b'])->withAttribute('user', 'ann'));
        $this->assertSame([200, 'text/html; charset=utf-8', ['ann']], [$page->getStatusCode(), $page->getHeaderLine('Content-Type'), $users]);
        $this->assertStringContainsString('action="/admin/queues/job/cancel"', (string) $page->getBody());
        $this->assertSame(200, $mounted->handle(new ServerRequest('GET', '/admin/queues'))->getStatusCode());

        $post = (new ServerRequest('POST', '/admin/queues/job/cancel', ['Sec-Fetch-Site' => 'same-origin']))->withParsedBody(['queue' => $queue->name(), 'id' => 'a b']);
        $answer = $mounted->handle($post);
        $this->assertSame([303, "/admin/queues/job?queue={$queue->name()}&id=a%20b&told=cancelled"], [$answer->getStatusCode(), $answer->getHeaderLine('Location')]);
        $this->assertNull($queue->peek('a b'));
        $this->assertSame(403, $mounted->handle($post->withoutHeader('Sec-Fetch-Site'))->getStatusCode());
    }
}
