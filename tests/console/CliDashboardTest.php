<?php

declare(strict_types=1);

namespace DelayQueue\Tests\CommandLine;

use DelayQueue;
use DelayQueue\Database\Journal;
use DelayQueue\Database\Schema;
use DelayQueue\Tests\Support\CliTestCase;
use DelayQueue\Tests\Support\FreePort;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\Relay;
use DelayQueue\Tests\Support\Wait;
use PDO;

/** delayqueue dashboard: who is let in to its pages, and how its processes end. */
final class CliDashboardTest extends CliTestCase
{
    private const FROM_HERE = ['Sec-Fetch-Site: same-origin'];

    private string $listen;

    /** @var list<Process> */
    private array $served = [];

    protected function setUp(): void
    {
        parent::setUp();
        $this->listen = '127.0.0.1:' . FreePort::find();
    }

    /** A command that is killed, as other tests may end theirs, would leave its web server behind. */
    protected function tearDown(): void
    {
        foreach ($this->served as $server) {
            $server->isRunning() && $server->signal(SIGTERM);
            $server->exitCode();
        }
        parent::tearDown();
    }

    public function testItServesPagesBelowATokenAndNothingElse(): void
    {
        [$server, $url] = $this->serve();
        $this->assertMatchesRegularExpression("~^http://$this->listen/[0-9a-f]{32}/$~D", $url);
        [$status, $page, $headers] = $this->ask($url);
        $this->assertSame(200, $status);
        $this->assertStringContainsString('<h1><bdi>Queues</bdi></h1>', $page);
        $this->assertSame([], preg_grep('/^X-Powered-By/i', $headers));
        $this->assertSame(200, $this->ask("{$url}style.css")[0]);
        foreach (['/', '/' . str_repeat('0', 32) . '/', '/style.css', substr(parse_url($url, PHP_URL_PATH), 0, -2) . '/', '//'] as $path) {
            $this->assertSame(403, $this->ask("http://$this->listen$path")[0], $path);
        }
        $this->end($server);
        $this->assertSame('', $server->errors(), "nothing of PHP's own server");
        $this->assertNotSame($url, $this->serve()[1], 'each run has a token of its own');
    }

    public function testAChangeComesFromAPageOfThisSiteAndIsALineOnStandardError(): void
    {
        $queue = new DelayQueue('orders', $this->redis->dsn());
        $queue->push(1, delay: 600, id: 'order-1');
        [$server, $url] = $this->serve();
        $form = ['queue' => 'orders', 'id' => 'order-1'];
        foreach ([[], ['Sec-Fetch-Site: cross-site'], ['Origin: http://evil.example']] as $headers) {
            $this->assertSame(403, $this->ask("{$url}job/cancel", $headers, $form)[0]);
        }
        $this->assertNotNull($queue->peek('order-1'));
        $this->assertSame(303, $this->ask("{$url}job/cancel", self::FROM_HERE, $form)[0]);
        $this->assertNull($queue->peek('order-1'));
        $this->heard($server, '/^delayqueue: cancelled, queue orders, id order-1$/m');
        $this->assertStringNotContainsString('GET', $server->errors(), 'requests are not logged');
    }

    public function testReadOnlyOffersAndTakesNoChange(): void
    {
        $queue = new DelayQueue('orders', $this->redis->dsn());
        $queue->push(1, delay: 600, id: 'order-1');
        [, $url] = $this->serve('--read-only');
        $this->assertStringNotContainsString('method="post"', $this->ask("{$url}job?queue=orders&id=order-1")[1]);
        $this->assertSame(403, $this->ask("{$url}job/cancel", self::FROM_HERE, ['queue' => 'orders', 'id' => 'order-1'])[0]);
        $this->assertNotNull($queue->peek('order-1'));
    }

    /** A page of another site may give its own name the address 127.0.0.1 and then read what it gets. */
    public function testOnlyNamesThatLeadHereByRightAreServed(): void
    {
        [, $url] = $this->serve('--allow-host=Queues.internal', '--allow-host=10.0.0.7');
        $port = substr($this->listen, 10);
        foreach (['localhost', 'LOCALHOST:9000', '127.0.0.1', '127.8.8.8:1', '[::1]:80', "queues.internal:$port", '10.0.0.7', $this->listen] as $host) {
            $this->assertSame(200, $this->ask($url, ["Host: $host"])[0], $host);
        }
        foreach (['evil.example', "evil.example:$port", '127.0.0.1.evil.example', 'localhost.evil.example', 'evil.example:127.0.0.1', '10.0.0.8', 'internal', ''] as $host) {
            $this->assertSame(403, $this->ask($url, ["Host: $host"])[0], $host);
        }
        $this->assertStringContainsString('--allow-host', $this->ask($url, ['Host: evil.example'])[1]);
    }

    public function testALoginIsAskedForWhereThereIsOne(): void
    {
        [$server, $url] = $this->serve('--user=ops', "--password-file={$this->password("s: cret\nnot this\n")}");
        [$status, $body, $headers] = $this->ask($url);
        $this->assertSame([401, "Log in.\n"], [$status, $body]);
        $this->assertNotSame([], preg_grep('/^WWW-Authenticate: Basic realm="delayqueue"/i', $headers));
        $login = static fn (string $pair): array => ['Authorization: Basic ' . base64_encode($pair)];
        foreach (['ops:', 'ops:s', ':s: cret', 'root:s: cret', "ops:s: cret\n"] as $wrong) {
            $this->assertSame(401, $this->ask($url, $login($wrong))[0], $wrong);
        }
        $this->assertSame(200, $this->ask($url, $login('ops:s: cret'))[0]);
        $this->assertSame(403, $this->ask("http://$this->listen/", $login('ops:s: cret'))[0], 'a login is no token');
        $this->assertSame(303, $this->ask("{$url}queue/pause", [...$login('ops:s: cret'), ...self::FROM_HERE], ['queue' => 'orders'])[0]);
        $this->heard($server, '/^delayqueue: ops: paused, queue orders$/m');
        $this->assertStringNotContainsString('cret', (string) file_get_contents("/proc/$server->pid/cmdline"));
    }

    public function testAnAddressThatOthersReachNeedsALoginOrAName(): void
    {
        $this->listen = '0.0.0.0:' . FreePort::find();
        $this->assertStringContainsString('--allow-host', $this->cliExpecting(2, 'dashboard', "--listen=$this->listen"));
        $password = $this->password("secret\n");
        foreach ([['--allow-host=queues.internal'], ['--user=ops', "--password-file=$password"]] as $options) {
            [$server] = $this->serve(...$options);
            $this->end($server);
        }
        chmod($password, 0o644);
        $wrong = [
            ['--listen=here'], ['--listen=127.0.0.1'], ['--listen=127.0.0.1.evil.example:80'], ['--listen=[::]:80'], ['--allow-host=a:80'], ['--allow-host='],
            ['--user=ops'], ["--password-file=$password"], ['--user=ops', "--password-file=$password"], ['--user=o:s', '--password-file=/dev/null'],
            ['--user=ops', '--password-file=/nowhere'], ['--queue=orders'], ['--dsn=nonsense'], ['--journal'], ['--journal', '--database=nonsense'],
        ];
        foreach ($wrong as $options) {
            $this->assertSame(2, $this->cli('dashboard', ...$options)->exitCode, implode(' ', $options));
        }
        chmod($password, 0o600);
        $this->serve('--user=ops', "--password-file=$password");
        $this->assertStringContainsString('cannot listen', $this->cliExpecting(1, 'dashboard', "--listen=$this->listen", '--allow-host=a'));
    }

    public function testAPasswordFileForAllOrAnEmptyOneIsRefused(): void
    {
        $this->assertStringContainsString('is empty', $this->cliExpecting(2, 'dashboard', '--user=ops', "--password-file={$this->password("\n")}"));
        chmod($this->password("secret\n"), 0o640);
        $this->assertStringContainsString('chmod 600', $this->cliExpecting(2, 'dashboard', '--user=ops', "--password-file={$this->redis->folder->path}/password"));
    }

    public function testItShowsTheJournal(): void
    {
        $file = "{$this->redis->folder->path}/journal.sqlite";
        $database = new PDO("sqlite:$file", null, null, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
        Schema::install($database, jobs: true);
        $queue = (new Journal($database))->watch(new DelayQueue('orders', $this->redis->dsn()));
        $queue->push(1, id: 'order-that-ended');
        $queue->drain(static fn (): bool => true);
        [, $url] = $this->serve('--journal', "--database=sqlite:$file");
        $this->assertStringContainsString('order-that-ended', $this->ask("{$url}journal")[1]);
    }

    public function testOthersAreServedWhileThreeRequestsAreSlow(): void
    {
        $relay = new Relay($this->redis);
        try {
            [, $url] = $this->serve("--dsn={$relay->dsn()}");
            $relay->holdReplies();
            $slow = [];
            for ($n = 0; $n < 3; $n++) {
                $slow[] = $client = stream_socket_client("tcp://$this->listen");
                fwrite($client, 'GET ' . parse_url($url, PHP_URL_PATH) . " HTTP/1.0\r\nHost: localhost\r\n\r\n");
            }
            $relay->untilHolding();
            $this->assertSame(200, $this->ask("{$url}style.css")[0]);
            $this->assertSame(200, $this->ask("{$url}script.js")[0]);
            $relay->pass();
            foreach ($slow as $client) {
                $this->assertStringStartsWith('HTTP/1.0 200', (string) stream_get_contents($client));
            }
        } finally {
            $relay->stop();
        }
    }

    /** @dataProvider signals */
    #[\PHPUnit\Framework\Attributes\DataProvider('signals')]
    public function testASignalEndsAllOfItsProcessesAlsoInTheMiddleOfARequest(int $signal): void
    {
        $relay = new Relay($this->redis);
        try {
            [$server, $url] = $this->serve("--dsn={$relay->dsn()}");
            Wait::until(fn (): bool => count($this->processes()) > 4, 10, 'the command and four processes that serve');
            $relay->holdReplies();
            $client = stream_socket_client("tcp://$this->listen");
            fwrite($client, 'GET ' . parse_url($url, PHP_URL_PATH) . " HTTP/1.0\r\nHost: localhost\r\n\r\n");
            $relay->untilHolding();
            $this->end($server, $signal);
        } finally {
            $relay->stop();
        }
    }

    /** @return array<string, array{int}> */
    public static function signals(): array
    {
        return ['TERM' => [SIGTERM], 'INT' => [SIGINT], 'HUP' => [SIGHUP]];
    }

    public function testItEndsWithAnErrorWhenItsWebServerEnds(): void
    {
        [$server] = $this->serve();
        $first = trim((string) file_get_contents("/proc/$server->pid/task/$server->pid/children"));
        posix_kill((int) $first, SIGKILL);
        $this->assertSame(1, $server->exitCode());
        $this->assertStringContainsString('the web server has ended', $server->errors());
        $this->awaitEndOfAll();
    }

    /** @return array{Process, string} the command, and its address once it listens */
    private function serve(string ...$options): array
    {
        $server = $this->served[] = $this->start('dashboard', "--listen=$this->listen", ...$options);

        return [$server, $server->line()];
    }

    private function end(Process $server, int $signal = SIGTERM): void
    {
        $server->signal($signal);
        $this->assertSame(0, $server->exitCode(), $server->errors());
        $this->awaitEndOfAll();
    }

    private function awaitEndOfAll(): void
    {
        Wait::until(fn (): bool => $this->processes() === [], 10, 'no process is left');
        $this->addToAssertionCount(1);
    }

    /** @return list<string> the command lines of the command and its web server */
    private function processes(): array
    {
        $all = array_map(static fn (string $file): string => (string) @file_get_contents($file), glob('/proc/[0-9]*/cmdline') ?: []);

        return array_values(array_filter($all, fn (string $line): bool => str_contains($line, $this->listen)));
    }

    private function password(string $text): string
    {
        $file = $this->file('password', $text);
        chmod($file, 0o600);

        return $file;
    }

    /**
     * @param list<string> $headers
     * @param array<string, string>|null $form null: GET
     *
     * @return array{int, string, list<string>} status, body, headers
     */
    private function ask(string $url, array $headers = [], ?array $form = null): array
    {
        $body = http_build_query($form ?? []);
        $headers = $form === null ? $headers : [...$headers, 'Content-Type: application/x-www-form-urlencoded'];
        $answer = file_get_contents($url, false, stream_context_create(['http' => [
            'method' => $form === null ? 'GET' : 'POST', 'header' => $headers, 'content' => $body, 'ignore_errors' => true, 'follow_location' => 0,
        ]]));

        return [(int) explode(' ', $http_response_header[0])[1], (string) $answer, $http_response_header];
    }
}
