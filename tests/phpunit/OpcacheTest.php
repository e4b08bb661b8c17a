<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DelayQueue\Tests\Support\Php;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\ProcessTestCase;

/**
 * Code that opcache and its JIT compiler have compiled calls the extension as any other.
 *
 * @group verify
 */
#[\PHPUnit\Framework\Attributes\Group('verify')]
final class OpcacheTest extends ProcessTestCase
{
    private const SETTINGS = [
        'opcache.enable_cli' => '1',
        'opcache.jit_buffer_size' => '32M',
        'delayqueue.testing' => '1',
    ];

    private Process $process;

    /** @dataProvider compilers */
    #[\PHPUnit\Framework\Attributes\DataProvider('compilers')]
    public function testEveryCallWorksInCompiledLoops(string $jit): void
    {
        $this->process = new Process([
            ...Php::command(['opcache.jit' => $jit] + self::SETTINGS + Php::LOADED_OPCACHE),
            __DIR__ . '/programs/compiled.php',
            $this->redis->dsn(),
        ]);
        $said = $this->process->rest(60);
        $this->assertSame(0, $this->process->exitCode(), $said . $this->process->errors());
        $this->assertSame('', $this->process->errors());
        $this->assertSame("compiled: yes\ndone\n", $said);
    }

    /** @return array<string, array{string}> */
    public static function compilers(): array
    {
        return ['tracing' => ['1255'], 'by function' => ['1205']];
    }
}
