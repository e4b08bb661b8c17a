<?php

declare(strict_types=1);

namespace DelayQueue\Tests\CommandLine;

use DelayQueue\Tests\Support\CliResult;
use DelayQueue\Tests\Support\CliTestCase;

/** Commands that messages name as a cure are run as they are printed. CliDumpTest and CliOperationsTest do so with those of their subjects. */
final class CliCuresTest extends CliTestCase
{
    public function testAMissingTableIsCuredByTheCommandsOfTheMessage(): void
    {
        $database = ['DELAYQUEUE_DATABASE' => 'sqlite:' . $this->file('shop.sqlite', '')];
        $run = fn (string $line): CliResult => $this->finish($this->startWith($database, ...explode(' ', $line)));
        $refused = $run('journal:list');
        $this->assertSame(5, $refused->exitCode);
        $this->assertSame(2, preg_match_all('/"delayqueue ([^"]+)"/', $refused->errors, $cures), $refused->errors);
        foreach ($cures[1] as $cure) {
            $done = $run($cure);
            $this->assertSame(0, $done->exitCode, $cure . $done->errors);
        }
        $this->assertSame(0, $run('journal:list')->exitCode);
        $this->assertSame(0, $run('outbox:status')->exitCode);
    }

    public function testWhatAMistypedOptionMayMeanIsAnOptionOfThatCommand(): void
    {
        foreach (['push 1 --maxattempts=3' => '=3', 'work x --process=4' => '=4', 'list buried --limits=5' => '=5'] as $line => $value) {
            $said = $this->cliExpecting(2, ...explode(' ', $line));
            $this->assertSame(1, preg_match('/did you mean (--[\w-]+)\?$/m', $said, $found), $said);
            $help = $this->cliExpecting(0, explode(' ', $line)[0], '--help');
            $this->assertStringContainsString($found[1], $help, "$line$value");
        }
    }

    public function testAUnixTimeIsCuredByTheOptionOfTheMessage(): void
    {
        $said = $this->cliExpecting(2, 'push', '1', '--id=a', '--delay=1795412800');
        $this->assertSame(1, preg_match('/(--at=@\d+)$/m', $said, $found), $said);
        $this->cliExpecting(0, 'push', '1', '--id=a', $found[1]);
        $this->assertSame(1795412800.0, $this->queue()->peek('a')->dueAt);
    }
}
