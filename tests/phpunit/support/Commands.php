<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Support;

use DelayQueue\Console\Application;
use Symfony\Component\Console\Input\ArgvInput;
use Symfony\Component\Console\Output\ConsoleOutput;
use Symfony\Component\Console\Output\StreamOutput;

/**
 * Runs commands of php/bin/delayqueue in this process, for tests of what a command does and prints: a process of its own
 * costs ten times as much.
 */
final class Commands
{
    /** Commands that run until a signal, read standard input, write past their output, or print the name of the program. */
    private const NEED_A_PROCESS = ['completion', 'dashboard', 'drain', 'load', 'metrics', 'serve', 'watch', 'work'];

    /** @param list<string> $arguments */
    public static function mayRun(array $arguments): bool
    {
        return array_intersect(self::NEED_A_PROCESS, $arguments) === [];
    }

    /**
     * @param list<string> $arguments
     * @param array<string, string> $environment set while the command runs
     */
    public static function run(array $arguments, array $environment): CliResult
    {
        self::load();
        $before = getenv();
        self::change($environment);
        try {
            return self::answer($arguments);
        } finally {
            // Symfony leaves the variable SHELL_VERBOSITY behind.
            self::change($before + array_map(static fn (): ?string => null, getenv()));
            unset($_ENV['SHELL_VERBOSITY'], $_SERVER['SHELL_VERBOSITY']);
        }
    }

    /** @param array<string, ?string> $environment null removes a variable */
    private static function change(array $environment): void
    {
        foreach ($environment as $name => $value) {
            putenv($value === null ? $name : "$name=$value");
        }
    }

    /** @param list<string> $arguments */
    private static function answer(array $arguments): CliResult
    {
        $output = new class () extends ConsoleOutput {
            public string $written = '';

            protected function doWrite(string $message, bool $newline): void
            {
                $this->written .= $message . ($newline ? PHP_EOL : '');
            }
        };
        $output->setErrorOutput(new StreamOutput($errors = fopen('php://memory', 'w+')));
        $output->setDecorated(false);
        $exitCode = (new Application())->answer(new ArgvInput(['delayqueue', ...$arguments]), $output);

        return new CliResult($exitCode, $output->written, (string) stream_get_contents($errors, offset: 0));
    }

    /** As php/bin/delayqueue does in a checkout. */
    private static function load(): void
    {
        foreach (class_exists(ArgvInput::class) ? [] : ['Console', 'HttpClient'] as $component) {
            require_once "Symfony/Component/$component/autoload.php";
        }
    }
}
