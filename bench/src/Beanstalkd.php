<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

final class Beanstalkd extends Server
{
    /** Resident: beanstalkd does not count its bytes. */
    public function memory(): int
    {
        preg_match('/^VmRSS:\s+(\d+)/m', (string) file_get_contents("/proc/{$this->process->pid}/status"), $found);

        return 1024 * (int) $found[1];
    }

    protected function command(int $port): array
    {
        return ['beanstalkd', '-l', '127.0.0.1', '-p', (string) $port];
    }

    protected function socket(): string
    {
        return '';
    }
}
