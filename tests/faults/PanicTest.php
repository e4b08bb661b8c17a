<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Faults;

use DelayQueue\Tests\Faults\Support\FaultTestCase;
use DelayQueue\Tests\Faults\Support\Shim;
use DelayQueue\Tests\Faults\Support\Single;
use DelayQueue\Tests\Support\Php;
use DelayQueue\Tests\Support\Process;

/** The extension is made to fail in itself, wherever it looks at the clock. */
final class PanicTest extends FaultTestCase
{
    /** @group quick */
    public function testAPanicIsAnErrorAndTheProcessGoesOn(): void
    {
        $this->setup = new Single();
        $folder = $this->setup->node()->folder;
        $shim = new Shim('failingclock', $folder);
        $program = __DIR__ . '/programs/panic.php';
        $number = "$folder->path/failingclock.number";
        $process = new Process([...$shim->launcher(), ...Php::command(), $program, $this->setup->dsn(), self::QUEUE, $number]);
        $said = $process->rest(60);
        $this->assertSame(0, $process->exitCode(), $said . $process->errors());
        $this->assertStringNotContainsString('wrong', $said);
        $this->assertStringEndsWith("alive\n", $said);
        preg_match_all('/^panics (\d+) in (.*)$/m', $said, $found);
        $panics = array_combine($found[2], $found[1]);
        foreach (['push', 'reserve', 'ack', 'connecting', 'consume'] as $what) {
            $this->assertGreaterThan(0, $panics[$what], $said);
        }
        $this->assertStringContainsString('an internal check failed at', $process->errors(), 'for a bug report');
        $this->assertStringNotContainsString('InvalidInput', $process->errors() . $said, 'the text of a panic may hold data');
        $process->kill();
    }
}
