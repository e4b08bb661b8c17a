<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Docs;

use DelayQueue\Docs\Sample;
use PHPUnit\Framework\Assert;

/** Files and configurations of the pages, each checked by the program that reads it. */
final class Configurations
{
    public static function check(Sample $sample, string $file, Session $session): void
    {
        if ($sample->context !== null) {
            $session->inContext($sample, $file);

            return;
        }
        $name = $sample->name();
        match (true) {
            $sample->language === 'php' => $session->run(['php', '-l', $file], $name),
            $sample->title === 'redis.conf' => self::redis($file, $session, $name),
            str_ends_with($sample->title, '.service'), str_ends_with($sample->title, '.timer') => self::unit($file, $session, $name),
            str_starts_with($sample->title, 'supervisor') => self::supervisor($file, $session, $name),
            $sample->title === 'pool.conf' => self::pool($file, $session, $name),
            $sample->title === 'prometheus.yml' => $session->run(['promtool', 'check', 'config', '--syntax-only', $file], $name),
            str_ends_with($sample->title, '.rules.yml') => $session->run(['promtool', 'check', 'rules', $file], $name),
            $sample->title === 'nagios.cfg' => self::nagios($sample, $session),
            $sample->title === 'compose.yaml' => null, // ContainersTest runs what stands in it
            $sample->title === 'crontab' => self::crontab($sample, $session),
            $sample->title === 'phpunit.xml' => Assert::assertNotFalse(simplexml_load_file($file), $name),
            str_ends_with($sample->title, '.keys') => chmod($file, 0o600),
            $sample->language === 'redis' => self::commands($sample, $session),
            $sample->language === 'json' => json_decode($sample->code, true, flags: JSON_THROW_ON_ERROR),
            $sample->language === 'text' => null,
            default => Assert::fail("$name: nothing here can check it; give it a context, or say why it is not run"),
        };
    }

    /** A Redis starts with it, in the folder, and doctor() finds nothing against its persistence. */
    private static function redis(string $file, Session $session, string $name): void
    {
        $server = getenv('REDIS_SERVER') ?: 'redis-server';
        $script = <<<'SH'
            "$0" "$1" --port 0 --unixsocket "$PWD/check.sock" --daemonize no --dir "$PWD" >check.log & server=$!
            tries=0
            until [ -S check.sock ]; do tries=$((tries + 1)); [ $tries -lt 200 ] && kill -0 $server || { cat check.log; exit 1; }; sleep 0.05; done
            DELAYQUEUE_DSN=redis+unix://$PWD/check.sock delayqueue doctor --format=json; code=$?
            kill $server; wait $server; exit $code
            SH;
        $said = $session->run(['bash', '-c', $script, $server, $file], $name);
        $levels = array_column(json_decode($said, true, flags: JSON_THROW_ON_ERROR), 'level', 'check');
        foreach (['persistence', 'eviction', 'memory', 'settings', 'disk'] as $check) {
            Assert::assertSame('ok', $levels[$check] ?? 'ok', "$name: $check\n$said");
        }
    }

    private static function unit(string $file, Session $session, string $name): void
    {
        $unit = str_replace('@.', '@orders.', $file);
        $unit === $file || copy($file, $unit);
        $said = $session->run(['bash', '-c', 'systemd-analyze verify --man=no "$0" 2>&1', $unit], $name);
        Assert::assertStringNotContainsString(basename($unit), $said, $name);
    }

    private static function supervisor(string $file, Session $session, string $name): void
    {
        $main = "$file.main";
        file_put_contents($main, "[supervisord]\nlogfile={$session->folder->path}/supervisord.log\n[include]\nfiles=$file\n");
        $parse = 'import sys; from supervisor.options import ServerOptions as S; o = S(); o.realize(["-c", sys.argv[1], "-n"]); print([g.name for g in o.process_group_configs])';
        $said = $session->run(['/usr/bin/python3', '-W', 'ignore', '-c', $parse, $main], $name);
        Assert::assertStringContainsString('delayqueue', $said, "$name declares a program");
    }

    private static function pool(string $file, Session $session, string $name): void
    {
        $main = "$file.main";
        file_put_contents($main, "[global]\nerror_log = {$session->folder->path}/fpm.log\ninclude = $file\n");
        $session->run(['php-fpm' . PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION, '-t', '-y', $main], $name);
    }

    /** Each line has a time and a command; the command is run. */
    private static function crontab(Sample $sample, Session $session): void
    {
        foreach (preg_split('/\n/', $sample->code, flags: PREG_SPLIT_NO_EMPTY) as $line) {
            if (!str_starts_with($line, '#')) {
                Assert::assertSame(1, preg_match('~^(?:[\d*/,-]+ +){5}(.+)$~', $line, $found), "{$sample->name()}: $line");
                Assert::assertStringNotContainsString('%', $found[1], 'cron takes it for the end of the command');
                $session->run(['/bin/sh', '-c', $session->here($found[1])], $sample->name());
            }
        }
    }

    /** Its command is understood: 3 is wrong usage. */
    private static function nagios(Sample $sample, Session $session): void
    {
        Assert::assertSame(1, preg_match('/^ *command_line +(.+)$/m', $sample->code, $found), $sample->name());
        $session->run(['/bin/sh', '-c', $session->here($found[1]) . '; test $? -lt 3'], $sample->name());
    }

    private static function commands(Sample $sample, Session $session): void
    {
        foreach (explode("\n", trim($sample->code)) as $line) {
            Assert::assertSame('OK', $session->ask(explode(' ', $line)), "{$sample->name()}: $line");
        }
    }
}
