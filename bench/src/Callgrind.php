<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

use DelayQueue\Tests\Support\Process;
use RuntimeException;

/** Instructions outside the kernel that a process under callgrind executes between two moments. Its dumps lie in a folder. */
final class Callgrind
{
    private function __construct(private readonly int $pid, private readonly string $folder)
    {
    }

    /** @return list<string> what to run the process under: it counts nothing until it is told */
    public static function under(string $folder): array
    {
        return ['valgrind', '--tool=callgrind', '--instr-atstart=no', "--callgrind-out-file=$folder/callgrind"];
    }

    /** The one who counts in this process, which runs under valgrind in that folder. */
    public static function of(int $pid): self
    {
        return new self($pid, (string) readlink("/proc/$pid/cwd"));
    }

    public function start(): void
    {
        $this->tell('instrumentation on');
    }

    /** Instructions since the start. */
    public function stop(): int
    {
        $this->tell('instrumentation off');
        $before = $this->dumps();
        $this->tell('dump');
        $new = array_diff($this->dumps(), $before);
        if (count($new) !== 1 || !preg_match('/^totals: (\d+)/m', (string) file_get_contents(current($new)), $found)) {
            throw new RuntimeException('callgrind counted nothing');
        }

        return (int) $found[1];
    }

    /** @param callable(): void $work */
    public function count(callable $work): int
    {
        $this->start();
        $work();

        return $this->stop();
    }

    /** @return list<string> */
    private function dumps(): array
    {
        return glob("$this->folder/callgrind.*");
    }

    private function tell(string $what): void
    {
        $vgdb = new Process(['vgdb', "--pid=$this->pid", ...explode(' ', $what)]);
        $vgdb->endInput();
        if ($vgdb->exitCode(60) !== 0) {
            throw new RuntimeException("callgrind does not hear '$what': {$vgdb->errors()}");
        }
    }
}
