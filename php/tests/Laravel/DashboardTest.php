<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel;

use DelayQueue\Database\Journal;
use DelayQueue\Database\Schema;
use DelayQueue\Laravel\Dashboard\DashboardController;
use DelayQueue\Laravel\Database\LaravelConnection;
use DelayQueue\Tests\Laravel\Support\Deed;
use DelayQueue\Tests\Laravel\Support\HttpKernel;
use DelayQueue\Tests\Laravel\Support\LaravelTestCase;
use DelayQueue\Tests\Laravel\Support\UniqueDeed;
use Illuminate\Auth\AuthServiceProvider;
use Illuminate\Auth\GenericUser;
use Illuminate\Contracts\Auth\Access\Gate;
use Illuminate\Cookie\CookieServiceProvider;
use Illuminate\Foundation\Support\Providers\RouteServiceProvider;
use Illuminate\Http\Request;
use Illuminate\Session\SessionServiceProvider;
use Symfony\Component\HttpFoundation\Response;

/** The dashboard in an application of Laravel, through its kernel, router and middleware. */
final class DashboardTest extends LaravelTestCase
{
    private const FROM_HERE = ['HTTP_SEC_FETCH_SITE' => 'same-origin'];

    public function testItIsClosedToAllWhileNoGateIsDefined(): void
    {
        $this->signIn();
        foreach (['/delayqueue', '/delayqueue/', '/delayqueue/queue', '/delayqueue/style.css', '/delayqueue/nowhere'] as $path) {
            $this->assertSame(403, $this->get($path)->getStatusCode(), $path);
        }
        $this->assertSame(403, $this->post('/delayqueue/queue/pause', ['queue' => 'default'], self::FROM_HERE)->getStatusCode());
        $this->gate()->define('changeDelayQueue', static fn (): bool => true);
        $this->assertSame(403, $this->get('/delayqueue')->getStatusCode(), 'who may change has to be let in first');
    }

    public function testItIsClosedWhereTheApplicationHasNoGates(): void
    {
        $this->assertFalse($this->app->bound(Gate::class));
        $this->assertSame(403, $this->get('/delayqueue')->getStatusCode());
    }

    public function testTheGateDecidesByTheUserAndReadersChangeNothing(): void
    {
        Deed::dispatch('one')->onQueue('seen')->delay(600)->identifiedBy('order-1');
        $this->signIn();
        $this->gate()->define('viewDelayQueue', static fn (GenericUser $user): bool => $user->id === 7);
        $page = $this->get('/delayqueue');
        $this->assertSame([200, 'text/html; charset=utf-8'], [$page->getStatusCode(), $page->headers->get('content-type')]);
        $this->assertStringContainsString('href="/delayqueue/style.css"', (string) $page->getContent());
        $this->assertStringContainsString('/delayqueue/queue?queue=seen', (string) $page->getContent());
        $this->assertStringContainsString("default-src 'none'", (string) $page->headers->get('content-security-policy'));
        $this->assertStringStartsWith('text/css', (string) $this->get('/delayqueue/style.css')->headers->get('content-type'));
        $this->assertStringNotContainsString('method="post"', (string) $this->get('/delayqueue/job?queue=seen&id=order-1')->getContent());
        $this->assertSame(403, $this->post('/delayqueue/job/cancel', ['queue' => 'seen', 'id' => 'order-1'], self::FROM_HERE)->getStatusCode());
        $this->assertSame(1, $this->queue()->size('seen'));

        $this->signIn(8);
        $this->assertSame(403, $this->get('/delayqueue')->getStatusCode());
    }

    public function testAJobThatIsCancelledInItReleasesItsUniqueLock(): void
    {
        $this->signIn();
        $this->allowChanges();
        foreach (['/job/cancel' => ['id' => 'unique'], '/found/cancel' => ['state' => 'delayed']] as $path => $fields) {
            UniqueDeed::dispatch('unique')->delay(600)->identifiedBy('unique');
            $answer = $this->post("/delayqueue$path", $fields + ['queue' => 'default'], self::FROM_HERE);
            $this->assertSame(303, $answer->getStatusCode());
            $this->assertSame(0, $this->queue()->size());
        }
        UniqueDeed::dispatch('unique')->identifiedBy('next');
        $this->assertSame(1, $this->queue()->size());
    }

    public function testAGuestComesInWhereTheGateTakesNoUser(): void
    {
        $this->withAuth();
        $this->gate()->define('viewDelayQueue', static fn (?GenericUser $user): bool => $user === null);
        $this->assertSame(200, $this->get('/delayqueue')->getStatusCode());
        $this->gate()->define('viewDelayQueue', static fn (GenericUser $user): bool => true);
        $this->assertSame(403, $this->get('/delayqueue')->getStatusCode());
    }

    public function testAChangeNeedsNoTokenOfTheSessionButAPageOfThisSiteAndIsLogged(): void
    {
        Deed::dispatch('one')->delay(600)->identifiedBy('order-1');
        Deed::dispatch('two')->delay(600)->identifiedBy("order-1 ");
        $this->signIn();
        $this->allowChanges();
        // As in production: in its own tests, the framework asks for no token.
        $this->app->detectEnvironment(static fn (): string => 'production');
        $this->app['router']->post('/orders', static fn (): string => 'ordered')->middleware('web');
        $this->assertSame(419, $this->post('/orders', [], ['HTTP_ACCEPT' => 'application/json'])->getStatusCode());

        $this->assertSame(403, $this->post('/delayqueue/job/cancel', ['queue' => 'default', 'id' => 'order-1'])->getStatusCode());
        $answer = $this->post('/delayqueue/job/cancel', ['queue' => 'default', 'id' => "order-1 "], self::FROM_HERE);
        $this->assertSame([303, '/delayqueue/job?queue=default&id=order-1%20&told=cancelled'], [$answer->getStatusCode(), $answer->headers->get('location')]);
        $this->assertNotNull($this->delayQueue()->peek('order-1'), 'the blank at the end of the id was kept');
        $this->assertSame(1, $this->queue()->size());
        $this->assertMatchesRegularExpression('/^.*INFO: delayqueue dashboard: cancelled, queue default, id order-1  {"user":"7"}.*$/m', $this->log());
    }

    public function testAPayloadIsPushedAndChangedAsJson(): void
    {
        $this->signIn();
        $this->allowChanges();
        $this->assertSame(303, $this->post('/delayqueue/job/push', ['queue' => 'default', 'id' => 'a', 'payload' => '{"n":{}}', 'delay' => '1h'], self::FROM_HERE)->getStatusCode());
        $this->assertSame('{"n":{}}', $this->delayQueue()->peek('a')->body);
        $this->post('/delayqueue/job/update', ['queue' => 'default', 'id' => 'a', 'payload' => '{"n":2}'], self::FROM_HERE);
        $this->assertSame('{"n":2}', $this->delayQueue()->peek('a')->body);
    }

    public function testItStandsWhereTheConfigurationSaysWithItsMiddleware(): void
    {
        $this->boot([], ['path' => '/admin/queues/', 'middleware' => ['web', Support\TeapotMiddleware::class]]);
        $this->signIn();
        $this->allowChanges();
        $this->assertStringContainsString('action="/sub/index.php/admin/queues/queue/pause"', (string) $this->get('/sub/index.php/admin/queues/queue?queue=default', [
            'SCRIPT_NAME' => '/sub/index.php', 'SCRIPT_FILENAME' => '/srv/sub/index.php',
        ])->getContent());
        $this->assertSame('short and stout', $this->get('/admin/queues')->headers->get('x-teapot'));
        $this->assertSame(404, $this->get('/delayqueue', ['HTTP_ACCEPT' => 'application/json'])->getStatusCode());
        $this->assertStringEndsWith('/admin/queues', route('delayqueue.dashboard'));

        $this->boot([], ['path' => null]);
        $this->assertSame(404, $this->get('/delayqueue', ['HTTP_ACCEPT' => 'application/json'])->getStatusCode());
    }

    public function testTheRouteCanBeCached(): void
    {
        file_put_contents("$this->base/bootstrap/app.php", '<?php return ' . Support\TestApp::class . "::make('$this->base');");
        $this->assertSame(0, $this->start('route:cache')->exitCode(30));
        $this->boot([]);
        $this->assertTrue($this->app->routesAreCached());
        $this->app->register(RouteServiceProvider::class);
        $this->signIn();
        $this->allowChanges();
        $this->assertSame(200, $this->get('/delayqueue/workers')->getStatusCode());
    }

    public function testTheApplicationMayMountItElsewhereByItself(): void
    {
        $this->signIn();
        $this->allowChanges();
        $this->app['router']->get('/tools/{tenant}/queues/{path?}', DashboardController::class)->where('path', '.*');
        $this->assertStringContainsString('action="/tools/a/queues/queue/pause"', (string) $this->get('/tools/a/queues/queue?queue=default')->getContent());
    }

    public function testItShowsTheJournalOfADatabaseConnection(): void
    {
        $this->boot(['block_for' => 0], ['journal' => 'sqlite']);
        $database = new LaravelConnection($this->app['db'], 'sqlite');
        Schema::install($database, jobs: true);
        $queue = (new Journal($database))->watch($this->delayQueue());
        $queue->push('1', id: 'ended');
        $queue->drain(static fn (): bool => true);
        $this->signIn();
        $this->allowChanges();
        $this->assertStringContainsString('ended', (string) $this->get('/delayqueue/journal')->getContent());
    }

    /** @param array<string, mixed> $dashboard what config/delayqueue.php says */
    protected function boot(array $connection, array $dashboard = []): void
    {
        putenv('TEST_DASHBOARD=' . json_encode($dashboard));
        parent::boot($connection);
        $this->app->singleton(\Illuminate\Contracts\Http\Kernel::class, HttpKernel::class);
        $this->app['config']->set('session', [
            'driver' => 'array', 'lifetime' => 120, 'expire_on_close' => false, 'lottery' => [0, 100], 'cookie' => 'session', 'path' => '/', 'domain' => null, 'secure' => false,
        ]);
        $this->app->register(CookieServiceProvider::class);
        $this->app->register(SessionServiceProvider::class);
    }

    protected function tearDown(): void
    {
        parent::tearDown();
        putenv('TEST_DASHBOARD');
    }

    private function withAuth(): void
    {
        $this->app['config']->set('auth', ['defaults' => ['guard' => 'web'], 'guards' => ['web' => ['driver' => 'header']], 'providers' => []]);
        $this->app->register(AuthServiceProvider::class);
        $this->app['auth']->viaRequest('header', static fn (): mixed => null);
    }

    private function signIn(int $id = 7): void
    {
        $this->app->bound(Gate::class) || $this->withAuth();
        $this->app['auth']->guard()->setUser(new GenericUser(['id' => $id]));
    }

    private function allowChanges(): void
    {
        foreach (['viewDelayQueue', 'changeDelayQueue'] as $ability) {
            $this->gate()->define($ability, static fn (GenericUser $user): bool => $user->id === 7);
        }
    }

    private function gate(): Gate
    {
        $this->app->bound(Gate::class) || $this->withAuth();

        return $this->app->make(Gate::class);
    }

    /** @param array<string, string> $server */
    private function get(string $address, array $server = []): Response
    {
        return $this->send(Request::create($address, 'GET', [], [], [], $server));
    }

    /**
     * @param array<string, string> $form
     * @param array<string, string> $server
     */
    private function post(string $address, array $form, array $server = []): Response
    {
        return $this->send(Request::create($address, 'POST', $form, [], [], $server, http_build_query($form)));
    }

    private function send(Request $request): Response
    {
        return $this->app->make(\Illuminate\Contracts\Http\Kernel::class)->handle($request);
    }
}
