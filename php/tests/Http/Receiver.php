<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Http;

use RuntimeException;

/** A receiver of notifications: a real server in a process of its own, which answers as it is told and repeats what it got. */
final class Receiver
{
    public readonly int $port;

    /** @var resource */
    private $process;

    /** @var resource */
    private $input;

    /** @var resource */
    private $output;

    /** @var list<array<string, mixed>> read and not yet returned */
    private array $requests = [];

    /** @param string $certificate a PEM file with certificate and key; '': no TLS */
    public function __construct(string $certificate = '')
    {
        $process = proc_open([PHP_BINARY, __DIR__ . '/receiver_process.php', $certificate], [['pipe', 'r'], ['pipe', 'w']], $pipes);
        if ($process === false) {
            throw new RuntimeException('cannot start a receiver');
        }
        $this->process = $process;
        [$this->input, $this->output] = $pipes;
        $this->port = $this->read()['port'];
    }

    public function __destruct()
    {
        fclose($this->input); // this ends it
        proc_close($this->process);
    }

    /**
     * How it answers from now on, one request after the other; the last answer is repeated. Each is a status, headers, and
     * a body or one of these for it: 'endless', 'slow' (a byte every 100 ms, for ever), 'hang' (nothing more). Instead of a
     * status: 'hang' or 'close'.
     *
     * @param array{0: int|string, 1?: array<string, string>, 2?: string} ...$answers
     */
    public function answer(array ...$answers): void
    {
        $this->ask(json_encode($answers, JSON_THROW_ON_ERROR));
    }

    /** How many connections it has accepted since it started. */
    public function connections(): int
    {
        return $this->ask('connections');
    }

    /**
     * The next request, without those that have been returned.
     *
     * @return array{method: string, path: string, headers: array<string, string>, body: string} headers by lower-case names
     */
    public function request(): array
    {
        return array_shift($this->requests) ?? $this->read();
    }

    /** @return int connections so far */
    private function ask(string $line): int
    {
        fwrite($this->input, "$line\n");
        while (!isset(($said = $this->read())['connections'])) {
            $this->requests[] = $said;
        }

        return $said['connections'];
    }

    /** @return array<string, mixed> */
    private function read(): array
    {
        [$read, $none] = [[$this->output], []];
        if (stream_select($read, $none, $none, 30) !== 1) {
            throw new RuntimeException('the receiver got nothing for 30 s');
        }

        return json_decode((string) fgets($this->output), true, flags: JSON_THROW_ON_ERROR);
    }
}
