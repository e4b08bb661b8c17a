<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

use DelayQueue\Tests\Support\Process;
use RuntimeException;

/** The proxy of bench/delay.c before a server. It ends when nobody holds it any more. */
final class Delay
{
    private const SIGUSR1 = 10;

    public readonly int $port;

    private readonly Process $process;

    /** @param string $binary of {@see compile()} */
    public function __construct(string $binary, int $serverPort, int $eachWayUs)
    {
        $this->process = Signals::hold(static fn () => new Process([$binary, (string) $serverPort, (string) $eachWayUs]));
        $this->port = (int) $this->process->line();
    }

    /** How many round trips began since this was asked last. */
    public function trips(): int
    {
        $this->process->signal(self::SIGUSR1);

        return (int) $this->process->line();
    }

    /** @return string path of the program */
    public static function compile(string $folder): string
    {
        $binary = "$folder/delay";
        $command = ['cc', '-O2', '-Wall', '-Wextra', '-Werror', '-o', $binary, dirname(__DIR__) . '/delay.c'];
        $compiler = new Process($command);
        if ($compiler->exitCode(60) !== 0) {
            throw new RuntimeException('cc could not compile bench/delay.c: ' . $compiler->errors());
        }

        return $binary;
    }
}
