<?php

declare(strict_types=1);

namespace DelayQueue\Tests\DocsSite;

use DelayQueue\Tests\Support\CliTestCase;
use DelayQueue\Tests\Support\Fpm;
use DelayQueue\Tests\Support\FreePort;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\Wait;
use Symfony\Component\Yaml\Yaml;

require_once 'Symfony/Component/Yaml/autoload.php';

/**
 * compose.yaml and php/examples/kubernetes/ without their engines: the commands, probes and configurations that stand in them run here, with the paths
 * and addresses of this machine. ./build.sh lint holds both to their schemas.
 */
final class ContainersTest extends CliTestCase
{
    private const ROOT = __DIR__ . '/../..';

    public function testTheRedisOfBothHasSettingsThatTheDoctorApprovesOf(): void
    {
        $kubernetes = self::kubernetes('redis', 'StatefulSet')['containers'][0]['args'];
        foreach ([self::compose()['services']['redis']['command'], implode(' ', array_map(escapeshellarg(...), $kubernetes))] as $number => $command) {
            $socket = "{$this->redis->folder->path}/$number.sock";
            $this->assertStringStartsWith('redis-server', trim($command, "'"));
            $line = "exec $command --port 0 --unixsocket $socket --dir {$this->redis->folder->path} --appenddirname a$number";
            $server = new Process(['bash', '-c', str_replace(["exec redis-server", "exec 'redis-server'"], 'exec ' . (getenv('REDIS_SERVER') ?: 'redis-server'), $line)]);
            Wait::until(static fn (): bool => file_exists($socket), 20, 'it listens');
            $found = array_column($this->json('doctor', '--format=json', "--dsn=redis+unix://$socket"), 'level', 'check');
            foreach (['persistence', 'eviction', 'memory', 'settings'] as $check) {
                $this->assertSame('ok', $found[$check], "$check, $command");
            }
            $server->signal(SIGTERM);
            $this->assertSame(0, $server->exitCode(20));
        }
    }

    /** Without the network: Packagist is turned off, and symfony/console is Debian's. */
    public function testTheProjectOfTheImageHasTheCommandLine(): void
    {
        $file = str_replace("\\\n", '', (string) file_get_contents(self::ROOT . '/Dockerfile'));
        $this->assertSame(1, preg_match("~^RUN (composer init .+) --require='symfony/console:\\S+' && +(composer install .+)$~m", $file, $lines));
        $this->assertStringContainsString('RUN ln -s /delayqueue/vendor/bin/delayqueue /usr/local/bin/delayqueue', $file);
        $folder = "{$this->redis->folder->path}/image";
        $php = realpath(self::ROOT . '/php');
        $script = "mkdir $folder && cd $folder && cp -r $php php && $lines[1] && composer config repositories.packagist.org false && $lines[2] && ln -s $folder/vendor/bin/delayqueue link && ./link --version";
        $composer = new Process(['bash', '-c', "($script) 2>&1"], ['COMPOSER_HOME' => "{$this->redis->folder->path}/home", 'COMPOSER_ALLOW_SUPERUSER' => '1'] + getenv());
        $said = $composer->rest(60);
        $this->assertSame(0, $composer->exitCode(60), $said);
        $this->assertStringContainsString('delayqueue ' . \DelayQueue::VERSION, $said);
    }

    public function testAnOrderOfTheShopIsClosedByItsWorker(): void
    {
        $services = self::compose()['services'];
        $settings = ['DELAYQUEUE_DSN' => $this->redis->dsn(), 'PAY_WITHIN' => '0.1'] + $this->here($services['worker']['environment']);
        $this->assertSame(1, preg_match('~SCRIPT_FILENAME (\S+);~', (string) file_get_contents(self::ROOT . '/php/examples/compose/nginx.conf'), $page));
        $pool = array_combine(array_map(static fn (string $name): string => "env[$name]", array_keys($settings)), array_map(static fn (string $value): string => "\"$value\"", $settings));
        $fpm = new Fpm($this->redis->folder, $pool, extensions: ['pdo', 'pdo_sqlite']);
        $worker = $this->begin($services['worker']['command'], $settings);
        try {
            $this->heard($worker, '/ is ready/');
            $answer = $fpm->begin($this->here($page[1]), ['item' => 'teapot'], ['REQUEST_URI' => '/orders?item=teapot'], [])->response();
            $this->assertStringContainsString('Status: 201', $answer->headers, $answer->body);
            $this->assertStringContainsString('closed order-1, attempt 1', $worker->line());
            $worker->signal(SIGTERM);
            $this->assertSame(0, $worker->exitCode(30), $worker->errors());
        } finally {
            $fpm->stop();
        }
        $this->assertStopsWithin((int) $services['worker']['stop_grace_period'], $services['worker']['command']);
    }

    public function testTheDashboardAndTheMetricsAnswerAsTheyAreAsked(): void
    {
        ['dashboard' => $dashboard, 'metrics' => $metrics] = self::compose()['services'];
        $ports = ['8025' => (string) FreePort::find(), '9637' => (string) FreePort::find()];
        $moved = fn (array $command): array => array_map(static fn (string $word): string => strtr($word, $ports), $command);
        $server = $this->begin($moved($dashboard['command']));
        $path = (string) parse_url($server->line(), PHP_URL_PATH);
        $page = (string) file_get_contents("http://127.0.0.1:{$ports['8025']}$path", false, stream_context_create(['http' => ['header' => 'Host: localhost:8025']]));
        $this->assertStringContainsString('<h1><bdi>Queues</bdi></h1>', $page);
        $server->signal(SIGTERM);
        $this->assertSame(0, $server->exitCode(20));

        $this->begin($moved($metrics['command']))->line();
        $probes = self::kubernetes('metrics', 'Deployment')['containers'][0];
        $this->assertSame($metrics['command'], ['delayqueue', ...array_slice($probes['command'], 1)]);
        foreach (['livenessProbe', 'readinessProbe'] as $probe) {
            $url = "http://127.0.0.1:{$ports['9637']}{$probes[$probe]['httpGet']['path']}";
            Wait::until(static fn (): bool => @file_get_contents($url) === "ok\n", 20, "$probe succeeds");
        }
        [$word, $program] = [$metrics['healthcheck']['test'][0], $moved(array_slice($metrics['healthcheck']['test'], 1))];
        $this->assertSame(['CMD', 'php'], [$word, $program[0]]);
        $this->assertSame(0, (new Process($program))->exitCode(20));
        $this->assertSame(1, (new Process(str_replace($ports['9637'], '1', $program)))->exitCode(20), 'a server that is away is not well');
    }

    public function testPrometheusAndGrafanaFindWhatTheyAreGiven(): void
    {
        $services = self::compose()['services'];
        $inside = [];
        foreach (['web', 'prometheus', 'grafana'] as $service) {
            foreach (preg_grep('/^\./', $services[$service]['volumes']) as $volume) {
                [$file, $place] = explode(':', $volume);
                $this->assertFileExists(self::ROOT . "/$file");
                $inside[$place] = self::ROOT . "/$file";
            }
        }
        $folder = $this->redis->folder->path;
        foreach (preg_grep('~^/etc/prometheus/~', array_keys($inside)) as $place) {
            copy($inside[$place], "$folder/" . basename($place));
        }
        $promtool = new Process(['promtool', 'check', 'config', "$folder/prometheus.yml"]);
        $said = $promtool->rest(20);
        $this->assertSame(0, $promtool->exitCode(20), $said . $promtool->errors());
        $this->assertStringContainsString('1 rule files found', $said);
        $scraped = Yaml::parseFile("$folder/prometheus.yml")['scrape_configs'][0]['static_configs'][0]['targets'];
        $this->assertSame(['metrics:9637'], $scraped);

        $provider = Yaml::parseFile($inside['/etc/grafana/provisioning/dashboards/delayqueue.yml'])['providers'][0];
        $this->assertArrayHasKey("{$provider['options']['path']}/delayqueue.json", $inside);
        $this->assertSame('http://prometheus:9090', Yaml::parseFile($inside['/etc/grafana/provisioning/datasources/delayqueue.yml'])['datasources'][0]['url']);
    }

    public function testAPodOfWorkersIsReadyWhenAWorkerIsInTheListAndStopsInTime(): void
    {
        $pod = self::kubernetes('worker', 'Deployment');
        $worker = $pod['containers'][0];
        $probe = array_map($this->here(...), $worker['readinessProbe']['exec']['command']);
        $isReady = fn (): bool => (new Process($probe, $this->environment()))->exitCode(20) === 0;
        $this->assertFalse($isReady(), 'nobody works yet');
        $started = $this->begin(array_map(fn (string $word): string => strtr($word, ['worker.php' => (string) realpath(self::HANDLER)]), $worker['command']));
        Wait::until($isReady, 30, 'the pod is ready');
        $started->signal(SIGTERM);
        $this->assertSame(0, $started->exitCode(30), $started->errors());
        $this->assertStopsWithin($pod['terminationGracePeriodSeconds'], $worker['command']);

        $web = self::kubernetes('web', 'Deployment');
        foreach ($web['containers'] as $container) {
            $this->assertGreaterThan((int) $container['lifecycle']['preStop']['exec']['command'][1], $web['terminationGracePeriodSeconds']);
        }
    }

    /** @param list<string> $command */
    private function assertStopsWithin(int $seconds, array $command): void
    {
        $this->assertSame(2, preg_match_all('/--(?:shutdown|grace)-timeout=(\d+)/', implode(' ', $command), $timeouts));
        $this->assertLessThan($seconds, array_sum($timeouts[1]));
    }

    /**
     * @param list<string> $command of delayqueue
     * @param array<string, string> $environment
     */
    private function begin(array $command, array $environment = []): Process
    {
        $this->assertMatchesRegularExpression('~^(vendor/bin/)?delayqueue$~', $command[0]);

        return $this->startWith($environment, ...array_map($this->here(...), array_slice($command, 1)));
    }

    /**
     * Paths of an image as they are here.
     *
     * @template T of string|array<string, string>
     *
     * @param T $text
     *
     * @return T
     */
    private function here(string|array $text): string|array
    {
        $paths = [
            '/delayqueue/php/' => realpath(self::ROOT . '/php') . '/',
            'examples/order-closing/handler.php' => (string) realpath(self::ROOT . '/php/examples/order-closing/handler.php'),
            'vendor/bin/delayqueue' => PHP_BINARY . ' ' . realpath(self::BINARY),
            '/shop/' => $this->redis->folder->path . '/',
        ];

        return is_array($text) ? array_map(static fn (string $each): string => strtr($each, $paths), $text) : strtr($text, $paths);
    }

    /** @return array<string, mixed> */
    private static function compose(): array
    {
        return Yaml::parseFile(self::ROOT . '/compose.yaml');
    }

    /** @return array<string, mixed> the pod of the one object of this kind */
    private static function kubernetes(string $file, string $kind): array
    {
        $objects = array_map(Yaml::parse(...), explode("\n---\n", (string) file_get_contents(self::ROOT . "/php/examples/kubernetes/$file.yaml")));
        $found = array_values(array_filter($objects, static fn (array $object): bool => $object['kind'] === $kind));
        self::assertCount(1, $found);

        return $found[0]['spec']['template']['spec'];
    }
}
