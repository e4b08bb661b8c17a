<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

final class Beanstalkd extends Server
{
    public function counters(): array
    {
        $stream = stream_socket_client("tcp://127.0.0.1:{$this->endpoint()->port}");
        fwrite($stream, "stats\r\n");
        $size = (int) substr((string) fgets($stream), strlen('OK '));
        preg_match_all('/^cmd-\S+: (\d+)/m', (string) stream_get_contents($stream, $size), $found);
        fclose($stream);

        $commands = array_sum($found[1]);

        return ['requests' => $commands, 'commands' => $commands];
    }

    /** It does not count them; this is what the system gave it. */
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
