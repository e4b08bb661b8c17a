<?php

declare(strict_types=1);

namespace DelayQueue\Tests\CommandLine;

use DelayQueue\Tests\Support\CliTestCase;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\Wait;

/** delayqueue work as a service of systemd with Type=notify. The test listens on the socket of NOTIFY_SOCKET. */
final class CliSystemdTest extends CliTestCase
{
    /** @var resource */
    private mixed $socket;

    private string $told = '';

    /** @dataProvider sockets */
    #[\PHPUnit\Framework\Attributes\DataProvider('sockets')]
    public function testASingleWorkerTellsThatItIsReadyAndThatItStops(bool $isAbstract): void
    {
        $worker = $this->notifying($isAbstract, [], 'work', self::HANDLER);
        $this->isTold('READY=1');
        $worker->signal(SIGTERM);
        $this->assertSame(0, $worker->exitCode(20), $worker->errors());
        $this->assertSame("READY=1\nSTOPPING=1\n", $this->told());
    }

    /** @return array<string, array{bool}> */
    public static function sockets(): array
    {
        return ['a path' => [false], 'an abstract one' => [true]];
    }

    public function testAPoolTellsWhenAReloadBeginsAndEnds(): void
    {
        file_put_contents($this->file('release.php'), '<?php return fn () => null;');
        $pool = $this->notifying(false, [], 'work', $this->file('release.php'), '--processes=2');
        $this->isTold('READY=1');
        foreach (['<?php return fn () => null;' => '/: the old ones finish/', '<?php oops' => '/: the old ones stay/'] as $release => $end) {
            file_put_contents($this->file('release.php'), $release);
            $this->told = '';
            $before = intdiv(hrtime(true), 1000);
            $pool->signal(SIGHUP);
            $this->isTold('READY=1');
            $this->assertMatchesRegularExpression('/^RELOADING=1\nMONOTONIC_USEC=(\d+)\nREADY=1\n$/D', $this->told());
            preg_match('/=(\d{2,})/', $this->told, $time);
            $this->assertGreaterThanOrEqual($before, (int) $time[1]);
            $this->assertLessThanOrEqual(intdiv(hrtime(true), 1000), (int) $time[1]);
            $this->heard($pool, $end);
        }
        $pool->signal(SIGTERM);
        $this->assertSame(0, $pool->exitCode(20), $pool->errors());
        $this->assertStringEndsWith("READY=1\nSTOPPING=1\n", $this->told());
    }

    public function testItIsNotReadyBeforeRedisAnswers(): void
    {
        $pool = $this->notifying(false, [], 'work', self::HANDLER, '--processes=2', "--dsn=redis+unix://{$this->file('later.sock')}?db=0");
        $this->heard($pool, '/Redis is away/');
        $this->assertSame('', $this->told());
        symlink($this->redis->socket, $this->file('later.sock'));
        $this->isTold('READY=1');
    }

    public function testAWatchedWorkerGivesSignsOfLifeAlsoWhileItsHandlerRuns(): void
    {
        $this->queue()->push(['do' => 'wait'], id: 'a');
        $worker = $this->notifying(false, ['WATCHDOG_USEC' => '200000'], 'work', self::HANDLER);
        $this->holder('a');
        $this->told = '';
        Wait::until(fn (): bool => substr_count($this->told(), 'WATCHDOG=1') >= 5, 20, 'signs of life');
        $this->letGo('a');
        $worker->signal(SIGTERM);
        $this->assertSame(0, $worker->exitCode(20), $worker->errors());
    }

    public function testAWatchdogOfAnotherProcessIsNotServed(): void
    {
        $worker = $this->notifying(false, ['WATCHDOG_USEC' => '200000', 'WATCHDOG_PID' => '1'], 'work', self::HANDLER, '--processes=2');
        $this->isTold('READY=1');
        $worker->signal(SIGTERM);
        $this->assertSame(0, $worker->exitCode(20), $worker->errors());
        $this->assertStringNotContainsString('WATCHDOG', $this->told());
    }

    public function testProgramsOfAHandlerCannotSpeakForTheService(): void
    {
        file_put_contents($this->file('env.php'), '<?php return fn () => file_put_contents(__DIR__ . "/env", (string) shell_exec("env"));');
        $this->queue()->push([]);
        $this->finish($this->notifying(false, ['WATCHDOG_USEC' => '1000000'], 'work', $this->file('env.php'), '--stop-when-empty'));
        $this->assertStringContainsString('PATH=', (string) file_get_contents($this->file('env')));
        $this->assertDoesNotMatchRegularExpression('/^(NOTIFY_SOCKET|WATCHDOG_USEC)=/m', (string) file_get_contents($this->file('env')));
    }

    /** @param array<string, string> $environment */
    private function notifying(bool $isAbstract, array $environment, string ...$arguments): Process
    {
        $name = ($isAbstract ? "\0" : '') . $this->file('notify');
        $this->socket = stream_socket_server("udg://$name", $code, $message, STREAM_SERVER_BIND);
        stream_set_blocking($this->socket, false);

        return $this->startWith(['NOTIFY_SOCKET' => str_replace("\0", '@', $name)] + $environment, ...$arguments);
    }

    private function isTold(string $line): void
    {
        Wait::until(fn (): bool => str_ends_with($this->told(), "$line\n"), 20, "$line in $this->told");
    }

    /** All since it was emptied; each datagram ends a line. */
    private function told(): string
    {
        while (($datagram = stream_socket_recvfrom($this->socket, 1000)) !== false && $datagram !== '') {
            $this->told .= "$datagram\n";
        }

        return $this->told;
    }
}
