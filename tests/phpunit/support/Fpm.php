<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Support;

use RuntimeException;

/** A private php-fpm with one worker. */
final class Fpm
{
    private Process $process;

    private string $socket;

    private string $log;

    /**
     * @param array<string, string> $pool       settings of the pool
     * @param array<string, string> $settings   ini settings of the master
     * @param list<string>          $extensions to load beside this one
     * @param string                $grace      how long a reload waits for requests
     */
    public function __construct(Folder $folder, array $pool = [], array $settings = [], array $extensions = [], string $grace = '10s')
    {
        $this->socket = "$folder->path/fpm.sock";
        $this->log = "$folder->path/fpm.log";
        $config = "$folder->path/fpm.conf";
        $lines = ['[global]', "error_log = $this->log", 'log_level = notice', "process_control_timeout = $grace", '[pool]'];
        $pool += [
            'listen' => $this->socket,
            'pm' => 'static',
            'pm.max_children' => '1',
            'catch_workers_output' => 'yes',
            'clear_env' => 'no',
            'php_admin_flag[log_errors]' => 'on',
            'php_admin_value[error_log]' => "$folder->path/php.log",
            'php_flag[display_errors]' => 'on',
            'php_value[html_errors]' => '0',
            'php_value[error_reporting]' => '-1',
        ];
        if (posix_geteuid() === 0) {
            $pool += ['user' => 'root', 'group' => 'root'];
        }
        foreach ($pool as $name => $value) {
            $lines[] = "$name = $value";
        }
        file_put_contents($config, implode("\n", $lines) . "\n");
        $command = [self::binary(), '-n'];
        foreach ($extensions as $extension) {
            array_push($command, '-d', "extension=$extension");
        }
        $settings += Php::LOADED_OPCACHE + ['opcache.enable' => '1', 'extension' => Php::extension()];
        foreach ($settings as $name => $value) {
            array_push($command, '-d', "$name=$value");
        }
        $this->process = new Process([...$command, '-y', $config, '-F', '-R']);
        Wait::until(function (): bool {
            if (!$this->process->isRunning()) {
                throw new RuntimeException('php-fpm ended: ' . $this->process->errors() . @file_get_contents($this->log));
            }

            return file_exists($this->socket) && str_contains((string) @file_get_contents($this->log), 'ready to handle');
        }, 10, 'a php-fpm that is ready');
    }

    /**
     * @param string $page a file of pages/, or an absolute path
     * @param array<string, scalar> $query
     * @param array<string, string> $others variables, as of FastCgi
     * @param array<string, string>|null $form is posted
     */
    public function begin(string $page, array $query = [], array $others = [], ?array $form = null): FastCgi
    {
        return new FastCgi($this->socket, str_starts_with($page, '/') ? $page : dirname(__DIR__) . "/pages/$page", $query, $others, $form);
    }

    /** @param array<string, scalar> $query */
    public function get(string $page, array $query = []): Response
    {
        return $this->begin($page, $query)->response();
    }

    public function log(): string
    {
        return (string) @file_get_contents($this->log);
    }

    /** New workers, and a new configuration, as after a deployment. */
    public function reload(): void
    {
        $times = fn (): int => substr_count($this->log(), 'ready to handle');
        $before = $times();
        $asked = 0.0;
        Wait::until(function () use ($times, $before, &$asked): bool {
            // A server that has just started may not hear it yet.
            if (microtime(true) - $asked > 3) {
                $this->process->signal(SIGUSR2);
                $asked = microtime(true);
            }

            return $times() > $before;
        }, 30, 'php-fpm has reloaded');
    }

    /** The worker finishes its request, then all is over. */
    public function finish(): void
    {
        $this->process->signal(SIGQUIT);
    }

    public function stop(): void
    {
        $this->process->signal(SIGTERM);
        $this->process->exitCode();
        $this->process->kill();
    }

    private static function binary(): string
    {
        $version = PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION;
        foreach ([(string) getenv('PHP_FPM'), "/usr/sbin/php-fpm$version", '/usr/local/sbin/php-fpm', '/usr/sbin/php-fpm'] as $binary) {
            if ($binary !== '' && is_executable($binary)) {
                return $binary;
            }
        }
        throw new RuntimeException("no php-fpm of PHP $version here: install it, or set PHP_FPM to its path");
    }
}
