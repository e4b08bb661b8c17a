<?php

declare(strict_types=1);

namespace DelayQueue\Tests\DocsSite;

use DelayQueue;
use DelayQueue\Docs\Inclusions;
use DelayQueue\Docs\Sample;
use DelayQueue\State;
use DelayQueue\Tests\Support\Folder;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\Wait;
use PHPUnit\Framework\TestCase;
use RuntimeException;

/**
 * The first hour of a new user, who does what README.md and the pages that it names print, in an empty folder: the extension, a Redis, the package by
 * Composer, a job, a worker, a test, a supervisor, a deployment. Only what is theirs is written here: their shop, and the places of their machine.
 */
final class NewUsersHourTest extends TestCase
{
    private const ROOT = __DIR__ . '/../..';

    private Folder $folder;

    private string $dsn = '';

    /** The folders of PHP's ini files. */
    private string $settings = '';

    /** @var list<Process> */
    private array $started = [];

    protected function setUp(): void
    {
        $this->folder = new Folder();
        symlink((string) realpath(self::ROOT . '/php'), $this->path('php'));
    }

    protected function tearDown(): void
    {
        foreach ($this->started as $process) {
            $process->kill();
        }
        $redis = (int) @file_get_contents($this->path('var/queue/redis.pid'));
        $redis > 0 && posix_kill($redis, SIGKILL);
        exec('rm -rf ' . escapeshellarg($this->folder->path));
    }

    public function testEveryStepWorksAsItIsPrinted(): void
    {
        $this->install();
        $this->startRedis();
        $this->requireThePackage();
        $this->pushTheFirstJobs();
        $this->runTheFirstWorker();
        $this->testTheirOwnCode();
        $this->runWorkersWithoutAScript();
        $this->deployWithSupervisor();
        $this->endRedis();
    }

    /** Into a folder that stands for /, whose ini PHP reads in the place of the tests' own. */
    private function install(): void
    {
        $this->assertSame(1, preg_match('~^sudo (\./build\.sh install) ~m', self::read('README.md'), $command));
        $this->shell('cd ' . self::ROOT . " && INSTALL_ROOT={$this->path('root')} $command[1] >&2");
        $library = glob($this->path('root/usr/lib/php/*/delayqueue.so'))[0];
        $ini = (string) file_get_contents(glob($this->path('root/etc/php/*/mods-available/delayqueue.ini'))[0]);
        mkdir($this->path('conf.d'));
        file_put_contents($this->path('conf.d/delayqueue.ini'), str_replace('extension=delayqueue.so', "extension=$library", $ini, $places));
        $this->assertSame(1, $places);
        $this->settings = PHP_CONFIG_FILE_SCAN_DIR . ':' . $this->path('conf.d');
        $this->assertSame(DelayQueue::VERSION, $this->shell('php -r "echo phpversion(\'delayqueue\');"'));
        $this->assertStringContainsString($library, $this->shell('php -r "readfile(\'/proc/self/maps\');"'));
    }

    private function startRedis(): void
    {
        $line = self::sample('README.md', 'serve --dir=var/queue --daemon');
        $this->assertSame('', $this->shell("export REDIS_SERVER=/nowhere/redis-server\n$line", fails: true), 'a failure is one of the line');
        $this->dsn = trim($this->shell("{$line}printenv DELAYQUEUE_DSN"));
        $this->assertSame([], (new DelayQueue('orders', $this->dsn))->queues(), 'it answers when the line has ended');
    }

    /** Without the network: Packagist is turned off, and symfony/console is Debian's. */
    private function requireThePackage(): void
    {
        $project = str_replace('/path/to/delayqueue', (string) realpath(self::ROOT), self::sample('php/README.md', '"delayqueue/delayqueue": "@dev"'));
        $project = (string) preg_replace('/"repositories": \[/', '$0{ "packagist.org": false },', $project, 1, $replaced);
        $this->assertSame(1, $replaced);
        $this->assertSame(1, preg_match('/`("autoload": .+?)`/', self::read('docs/recipes/tests.md'), $autoload));
        $project = "{ $autoload[1]," . substr($project, 1);
        file_put_contents($this->path('composer.json'), $project);
        $this->shell('composer update --no-interaction --no-progress 2>&1');
        $this->assertStringContainsString('  work ', $this->shell('php vendor/bin/delayqueue'));
    }

    private function pushTheFirstJobs(): void
    {
        $this->program('first.php', self::sample('README.md', '$queue->consume('));
        $this->assertSame("closing order 4712\n", $this->shell('php first.php'));
        $this->assertSame(['orders'], $this->queue()->queues());
        $this->assertCount(0, $this->queue(), 'one was paid, one is closed');

        $this->program('producer.php', self::sample('docs/use.md', 'onDuplicate: OnDuplicate::Keep'));
        $this->shell('php producer.php && php producer.php');
        $info = $this->queue()->peek('order-4711');
        $this->assertSame([State::Delayed, ['order' => 4711], ['tenant' => 'acme']], [$info?->state, $info?->payload, $info?->headers]);
    }

    private function runTheFirstWorker(): void
    {
        $theirs = <<<'PHP'
            $queue = new DelayQueue('orders');
            function closeIfUnpaid(int $order): void
            {
                file_put_contents('closed', "$order\n", FILE_APPEND);
            }
            PHP;
        $this->program('worker.php', "$theirs\n" . self::sample('docs/use.md', '$queue->reserve(timeout: null)'));
        $worker = $this->start('php worker.php');
        $this->queue()->reschedule('order-4711', 0);
        $this->until(fn (): bool => @file_get_contents($this->path('closed')) === "4711\n" && count($this->queue()) === 0, 'the job is done', $worker);
        $worker->signal(SIGTERM);
        $this->assertSame(SIGTERM, $worker->endedBy());
    }

    private function testTheirOwnCode(): void
    {
        $page = 'docs/recipes/tests.md';
        foreach (['src', 'tests'] as $folder) {
            mkdir($this->path($folder));
        }
        $code = self::sample($page, "final class Closing\n");
        file_put_contents($this->path('src/Closing.php'), $code);
        file_put_contents($this->path('tests/ClosingTest.php'), self::sample($page, 'final class ClosingTest'));
        $command = trim(self::sample($page, 'vendor/bin/phpunit '));
        // Debian's PHPUnit, in the place of Composer's.
        $phpunit = trim((string) shell_exec('command -v ' . (getenv('PHPUNIT') ?: 'phpunit')));
        $command = str_replace('vendor/bin/phpunit', "php $phpunit", $command);
        $this->assertStringContainsString('OK (2 tests, ', $this->shell($command));
        file_put_contents($this->path('src/Closing.php'), str_replace('$this->closed[] =', 'throw new \Exception();', $code));
        $this->assertStringContainsString('Tests: 2', $this->shell($command, fails: true), 'a mistake shows');
    }

    private function runWorkersWithoutAScript(): void
    {
        $this->assertSame(1, preg_match('~`(php/bin/delayqueue work handler\.php [^`]+)`~', self::read('docs/use.md'), $command));
        $this->program('handler.php', 'return fn (DelayQueue\Job $job) => file_put_contents("handled", "$job->id\n", FILE_APPEND);');
        $workers = $this->start($command[1]);
        $this->until(static fn (): bool => substr_count($workers->errors(), ' is ready') === 4, 'four workers are ready', $workers);
        $this->queue()->push(1, id: 'a');
        $this->until(fn (): bool => @file_get_contents($this->path('handled')) === "a\n", 'one has the job', $workers);
        $workers->signal(SIGTERM);
        $this->assertSame(0, $workers->exitCode(20), $workers->errors());
    }

    private function deployWithSupervisor(): void
    {
        $this->release(1);
        $page = 'docs/recipes/supervisor-and-systemd.md';
        $here = [
            '/usr/bin/php ' => PHP_BINARY . ' ',
            '/srv/shop/current' => $this->path('current'),
            'user=www-data' => 'user=' . posix_geteuid(),
            'redis://127.0.0.1:6379/0' => $this->dsn,
            '/var/log/' => $this->path(''),
        ];
        $program = self::sample($page, '[program:delayqueue-orders]');
        foreach (array_keys($here) as $place) {
            $this->assertStringContainsString($place, $program);
        }
        file_put_contents($this->path('supervisord.conf'), $this->supervisord() . strtr($program, $here));
        $supervisord = $this->start('env -u DELAYQUEUE_DSN supervisord --configuration supervisord.conf');
        $errors = fn (): string => (string) @file_get_contents($this->path('delayqueue-orders.err'));
        $this->until(static fn (): bool => substr_count($errors(), ' is ready') === 4, 'four workers are ready', $supervisord, $errors);
        $this->queue()->push(1, id: 'before');
        $this->until(fn (): bool => @file_get_contents($this->path('deployed')) === "release 1: before\n", 'the first release has the job', $supervisord, $errors);

        $this->release(2);
        $this->assertSame(1, preg_match('~`(supervisorctl signal HUP delayqueue-orders)`~', self::read($page), $command));
        $this->shell(str_replace('supervisorctl', 'supervisorctl -c supervisord.conf', $command[1]));
        $this->until(static fn (): bool => substr_count($errors(), ' is ready') === 8, 'four others are ready', $supervisord, $errors);
        $this->until(static fn (): bool => substr_count($errors(), ' ended') >= 4, 'the first four have ended', $supervisord, $errors);
        $this->queue()->push(1, id: 'after');
        $both = "release 1: before\nrelease 2: after\n";
        $this->until(fn (): bool => @file_get_contents($this->path('deployed')) === $both, 'the second release has the next job', $supervisord, $errors);
        $supervisord->signal(SIGTERM);
        $supervisord->exitCode(30);
        $this->assertCount(0, $this->queue());
    }

    private function endRedis(): void
    {
        $pid = (int) file_get_contents($this->path('var/queue/redis.pid'));
        $this->assertSame(1, preg_match('/`(kill [^`]+)` ends it/', self::read('README.md'), $command));
        $this->shell($command[1]);
        Wait::until(static fn (): bool => @readlink("/proc/$pid/exe") === false, 20, 'redis-server has ended');
    }

    /** A release of the shop, and the link that is switched to it. */
    private function release(int $number): void
    {
        mkdir($this->path("releases/$number"), 0o700, true);
        symlink($this->path('vendor'), $this->path("releases/$number/vendor"));
        $this->program("releases/$number/worker.php", "return fn (DelayQueue\\Job \$job) => file_put_contents('{$this->path('deployed')}', \"release $number: \$job->id\\n\", FILE_APPEND);");
        symlink("releases/$number", $this->path('next'));
        rename($this->path('next'), $this->path('current'));
    }

    /** Debian's main configuration, in a folder of the user. */
    private function supervisord(): string
    {
        return <<<INI
            [supervisord]
            nodaemon=true
            logfile={$this->path('supervisord.log')}
            pidfile={$this->path('supervisord.pid')}
            childlogdir={$this->folder->path}
            [unix_http_server]
            file={$this->path('supervisor.sock')}
            [supervisorctl]
            serverurl=unix://{$this->path('supervisor.sock')}
            [rpcinterface:supervisor]
            supervisor.rpcinterface_factory = supervisor.rpcinterface:make_main_rpcinterface

            INI;
    }

    private function queue(): DelayQueue
    {
        return new DelayQueue('orders', $this->dsn);
    }

    private function path(string $name): string
    {
        return "{$this->folder->path}/$name";
    }

    private function program(string $file, string $code): void
    {
        file_put_contents($this->path($file), "<?php\n$code\n");
    }

    private function start(string $command): Process
    {
        return $this->started[] = new Process(['bash', '-c', "cd {$this->folder->path} && exec $command"], $this->environment());
    }

    /** Runs lines to their end in the folder, and returns what they print. */
    private function shell(string $lines, bool $fails = false): string
    {
        $process = new Process(['bash', '-euo', 'pipefail', '-c', "cd {$this->folder->path}\n$lines"], $this->environment());
        $process->endInput();
        $output = $process->rest(120);
        $this->assertSame($fails, $process->exitCode(120) !== 0, "$lines\n$output{$process->errors()}");

        return $output;
    }

    /** @return array<string, string> */
    private function environment(): array
    {
        $own = ['COMPOSER_HOME' => $this->path('composer'), 'COMPOSER_ALLOW_SUPERUSER' => '1', 'HOME' => $this->folder->path];
        // The new user has Rust.
        foreach (['RUSTUP_HOME' => '.rustup', 'CARGO_HOME' => '.cargo'] as $name => $folder) {
            $own[$name] = getenv($name) ?: getenv('HOME') . "/$folder";
        }

        return $own + ($this->settings === '' ? [] : ['PHP_INI_SCAN_DIR' => $this->settings]) + ($this->dsn === '' ? [] : ['DELAYQUEUE_DSN' => $this->dsn]) + array_diff_key(getenv(), ['DELAYQUEUE_DSN' => 1]);
    }

    private function until(callable $condition, string $what, Process $process, ?callable $more = null): void
    {
        try {
            Wait::until($condition, 40, $what);
        } catch (RuntimeException $error) {
            $this->fail("{$error->getMessage()}\n{$process->errors()}" . ($more === null ? '' : $more()));
        }
    }

    private static function read(string $document): string
    {
        return (string) file_get_contents(self::ROOT . "/$document");
    }

    /** The one sample of a document that has these words. */
    private static function sample(string $document, string $words): string
    {
        $markdown = Inclusions::fill(self::read($document), static fn (string $file): string => self::read(dirname($document) . "/$file"));
        $found = array_filter(Sample::of($document, $markdown), static fn (Sample $sample): bool => str_contains($sample->code, $words));
        self::assertCount(1, $found, "$document has one sample with $words");

        return reset($found)->code;
    }
}
