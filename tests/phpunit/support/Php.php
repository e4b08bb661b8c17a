<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Support;

use RuntimeException;

/** How to start another PHP with the extension that is loaded here, and no php.ini. */
final class Php
{
    /** PHP 8.5 has it built in. */
    public const LOADED_OPCACHE = PHP_VERSION_ID < 80500 ? ['zend_extension' => 'opcache'] : [];

    /** The file this process loaded the extension from. */
    public static function extension(): string
    {
        static $path = null;
        if ($path === null) {
            $maps = (string) file_get_contents('/proc/self/maps');
            if (!preg_match('~(/\S*delayqueue\.so)$~m', $maps, $found)) {
                throw new RuntimeException('the delayqueue extension is not loaded from a file');
            }
            $path = $found[1];
        }

        return $path;
    }

    /** A process that runs a file of programs/. */
    public static function program(string $name, string ...$arguments): Process
    {
        return new Process([...self::command(), dirname(__DIR__) . "/programs/$name", ...$arguments]);
    }

    /**
     * The command line, less the script.
     *
     * @param array<string, string> $settings ini settings
     *
     * @return list<string>
     */
    public static function command(array $settings = []): array
    {
        $command = [PHP_BINARY, '-n'];
        foreach (self::missing() as $extension) {
            array_push($command, '-d', "extension=$extension");
        }
        // From 8.3 on PHP ends an endless recursion with an Error. A test wants the crash.
        array_push($command, '-d', 'zend.max_allowed_stack_size=-1');
        array_push($command, '-d', 'extension=' . self::extension(), '-d', 'display_errors=stderr', '-d', 'error_reporting=-1');
        foreach ($settings + self::opcache() as $name => $value) {
            array_push($command, '-d', "$name=$value");
        }

        return $command;
    }

    /** @return list<string> what programs need and this PHP does not have built in */
    private static function missing(): array
    {
        static $missing = null;
        if ($missing === null) {
            exec(escapeshellarg(PHP_BINARY) . ' -n -m', $builtin);
            $missing = array_values(array_diff(['pcntl', 'posix'], $builtin));
        }

        return $missing;
    }

    /** @return array<string, string> children use opcache and JIT as this process does */
    private static function opcache(): array
    {
        if (!filter_var(ini_get('opcache.enable_cli'), FILTER_VALIDATE_BOOL)) {
            return [];
        }
        $settings = self::LOADED_OPCACHE + ['opcache.enable_cli' => '1'];
        foreach (['opcache.jit', 'opcache.jit_buffer_size'] as $name) {
            $settings[$name] = (string) ini_get($name);
        }

        return $settings;
    }
}
