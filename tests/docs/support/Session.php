<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Docs;

use DelayQueue\Docs\Sample;
use DelayQueue\Tests\Support\Folder;
use DelayQueue\Tests\Support\FreePort;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\RedisServer;
use DelayQueue\Tests\Support\Wait;
use PHPUnit\Framework\Assert;

/**
 * A reader who tries the samples of one page, from top to bottom: in a folder of their own, with a Redis of their own, and with the
 * commands php, delayqueue and phpunit as in a project that has them.
 */
final class Session
{
    /** Commands that end when they are told to. */
    private const FOREVER = '/^(\S+=\S+ )*(delayqueue (work|serve|metrics|dashboard|watch|outbox:relay)\b(?!.*--(stop-when-empty|once))|.* --watch)/';

    private const KEY = 'base64:uAYHN4LqN2C9RkgV8TRYvRYyG2oQmVqTcfD9AzR2w3E=';

    public readonly Folder $folder;

    private readonly RedisServer $redis;

    private readonly int $port;

    /** The output of the sample before. */
    private string $printed = '';

    public function __construct(private readonly string $document)
    {
        $this->port = FreePort::find();
        $this->redis = new RedisServer(['port' => (string) $this->port, 'bind' => '127.0.0.1']);
        $this->folder = new Folder();
        Project::make($this->folder->path, preg_replace('/\W+/', '-', $document));
    }

    public function close(): void
    {
        $this->redis->remove();
        exec('rm -rf ' . escapeshellarg($this->folder->path));
    }

    public function try(Sample $sample): void
    {
        if ($sample->isOutput) {
            $this->compare($sample);
        } elseif ($sample->title !== '') {
            $file = "{$this->folder->path}/$sample->title";
            is_dir(dirname($file)) || mkdir(dirname($file), 0o700, true);
            file_put_contents($file, $this->here($sample->code));
            Configurations::check($sample, $file, $this);
        } elseif ($sample->language === 'php') {
            $this->php($sample);
        } elseif ($sample->language === 'sh') {
            $this->shell($sample);
        } else {
            Configurations::check($sample, $this->write($sample, $sample->code), $this);
        }
    }

    /**
     * Runs a program in the folder to its end, which has to be a good one.
     *
     * @param list<string> $command
     * @param array<string, string> $environment
     */
    public function run(array $command, string $name, array $environment = []): string
    {
        $process = $this->start($command, $environment);
        $process->endInput();
        $output = $process->rest(60);
        $code = $process->exitCode(60);
        Assert::assertSame(0, $code, "$name ends well\n$output{$process->errors()}");

        return $output . ($command[0] === 'php' ? $this->complaints($process, $name) : '');
    }

    /** For a sample that is no program: its context is one, and finds the sample's file in SAMPLE. */
    public function inContext(Sample $sample, string $file): void
    {
        $this->printed = $this->run(['php', self::context($sample)], $sample->name(), ['SAMPLE' => $file]);
    }

    /** Paths and addresses as they are here. */
    public function here(string $text): string
    {
        return strtr($text, [
            '127.0.0.1:6379' => "127.0.0.1:$this->port",
            "'127.0.0.1', 6379" => "'127.0.0.1', $this->port",
            'new-host:6379/0' => "127.0.0.1:$this->port/1",
            '--port=6380' => '--port=' . FreePort::find(),
            '127.0.0.1:8025' => '127.0.0.1:' . FreePort::find(),
            '0.0.0.0:8025' => '0.0.0.0:' . FreePort::find(),
            '127.0.0.1:9638' => '127.0.0.1:' . FreePort::find(),
            '/srv/shop/current' => $this->folder->path,
            '/etc/shop/' => "{$this->folder->path}/etc/",
            '/var/log/' => "{$this->folder->path}/",
            '/var/lib/prometheus/node-exporter' => $this->folder->path,
        ]);
    }

    /** @param list<string> $command */
    public function ask(array $command): mixed
    {
        return $this->redis->ask(...$command);
    }

    private function php(Sample $sample): void
    {
        $code = preg_replace('/^<\?php\s+/', '', $sample->code);
        if ($sample->context !== null) {
            $context = (string) file_get_contents(self::context($sample));
            Assert::assertStringContainsString('// The sample.', $context, 'a context of PHP says where the sample stands');
            $code = substr(strtr($context, ['// The sample.' => $code]), strlen("<?php\n"));
        }
        $file = $this->write($sample, "<?php\n" . $this->here($code));
        if ($sample->until !== null) {
            $this->runUntil(['php', $file], $sample->until, $sample->name());
        } else {
            $this->printed = $this->run(['php', $file], $sample->name());
        }
    }

    private function shell(Sample $sample): void
    {
        $this->printed = '';
        foreach (explode("\n", trim(str_replace("\\\n", '', $sample->code))) as $line) {
            if ($line === '' || str_starts_with($line, '#')) {
                continue;
            }
            if ($sample->context !== null) {
                $this->redis->ask('FLUSHALL');
                $this->run(['php', self::context($sample)], "the context of {$sample->name()}", ['COMMAND' => $line]);
            }
            $name = "{$sample->name()}: $line";
            $line = $this->here($line);
            if ($sample->until !== null) {
                $this->runUntil(['bash', '-c', "exec $line"], $sample->until, $name);
            } elseif (preg_match(self::FOREVER, $line)) {
                $this->runUntil(['bash', '-c', "exec $line"], '', $name);
            } elseif (str_contains($line, '# asks on a terminal')) {
                $this->printed .= $this->run(['bash', '-c', 'echo y | script -qec "$0" /dev/null', $line], $name);
            } else {
                $this->printed .= $this->run(['bash', '-euo', 'pipefail', '-c', $line], $name);
            }
        }
    }

    /** @param list<string> $command one that ends by SIGTERM, not before it has printed this; or, if that is '', anything */
    private function runUntil(array $command, string $text, string $name): void
    {
        $process = $this->start($command);
        $this->printed = '';
        Wait::until(function () use ($process, $text, $name): bool {
            $this->printed .= $process->said();
            $hasSaid = $text === '' ? $this->printed . $process->errors() !== '' : str_contains($this->printed, $text);
            Assert::assertTrue($hasSaid || $process->isRunning(), "$name ends too early: $this->printed{$process->errors()}");

            return $hasSaid;
        }, 30, "$name prints $text");
        $process->signal(SIGTERM);
        $code = $process->exitCode(20);
        $this->printed .= $process->rest();
        Assert::assertTrue($code === 0 || $process->endedBy() === SIGTERM, "$name ends with $code: {$process->errors()}");
        if ($command[0] === 'php') {
            $this->complaints($process, $name);
        }
    }

    private function compare(Sample $sample): void
    {
        $pattern = str_replace('…', '.*?', preg_quote(trim($sample->code), '~'));
        Assert::assertMatchesRegularExpression("~^$pattern$~s", trim($this->printed), "{$sample->name()} is what the sample before prints");
    }

    private function complaints(Process $process, string $name): string
    {
        Assert::assertSame('', $process->errors(), "$name has nothing to complain of");

        return '';
    }

    /** @param list<string> $command */
    private function start(array $command, array $environment = []): Process
    {
        $environment += [
            'PATH' => "{$this->folder->path}/bin:" . getenv('PATH') . ':/usr/sbin:/sbin',
            'HOME' => $this->folder->path,
            'DELAYQUEUE_DSN' => "redis://127.0.0.1:$this->port/0",
            'DELAYQUEUE_DATABASE' => "sqlite:{$this->folder->path}/shop.db",
            'QUEUE_KEY' => self::KEY,
            'LC_ALL' => 'C.UTF-8',
            'SESSION_SOCKET' => $this->redis->socket,
            'CONTEXTS' => dirname(__DIR__) . '/contexts',
        ];

        return new Process(['/bin/sh', '-c', 'cd "$0" && exec "$@"', $this->folder->path, ...$command], $environment + getenv());
    }

    private function write(Sample $sample, string $text): string
    {
        $file = "{$this->folder->path}/sample-$sample->line." . ($sample->language ?: 'txt');
        file_put_contents($file, $text);

        return $file;
    }

    private static function context(Sample $sample): string
    {
        $file = dirname(__DIR__) . "/contexts/$sample->context.php";
        Assert::assertFileExists($file, "the context of {$sample->name()}");

        return $file;
    }
}
