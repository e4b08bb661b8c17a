<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

use DelayQueue\Tests\Support\Folder;
use RuntimeException;

/** One run of the benchmarks: its settings, the peers that take part, and the servers that are up. */
final class Session
{
    public readonly Folder $folder;

    private float $started;

    private int $servers = 0;

    public function __construct(public readonly Settings $settings)
    {
        $this->folder = new Folder();
        $this->started = microtime(true);
    }

    /** Removes the temporary folder. The servers are those of the cases. */
    public function end(): void
    {
        $this->folder->remove();
    }

    /** The number of a full run, or that of a quick one, scaled. */
    public function jobs(int $full, ?int $quick = null, int $least = 100): int
    {
        return max($least, (int) ($this->settings->scale * ($this->settings->quick ? $quick ?? $full : $full)));
    }

    public function seconds(float $full, float $quick): float
    {
        return $this->settings->scale * ($this->settings->quick ? $quick : $full);
    }

    /**
     * The chosen peers that a case is for.
     *
     * @param (callable(Traits): bool)|null $fits null: all of them
     *
     * @return list<string>
     */
    public function peers(?callable $fits = null): array
    {
        $fits ??= static fn () => true;

        return array_values(array_filter($this->settings->peers, static fn (string $peer) => $fits(Peers::traits($peer))));
    }

    public function has(string $peer): bool
    {
        return in_array($peer, $this->settings->peers, true);
    }

    /**
     * A fresh, empty server of the kind the peer needs. It ends when nobody holds it any more.
     *
     * @param list<string> $under a command to run it under, such as valgrind's
     */
    public function server(string $peer, array $under = []): Server
    {
        return Server::start(Peers::traits($peer)->server, $this->directory(), $under);
    }

    /** A fresh folder for a server. */
    public function directory(): string
    {
        $directory = $this->folder->path . '/' . ++$this->servers;
        mkdir($directory);

        return $directory;
    }

    /** A fresh server with due jobs in its queue; the worker that is measured takes no more than that. */
    public function filledServer(string $peer, int $count): Server
    {
        $server = $this->server($peer);
        Child::run(new Task($peer, 'Fill', $server->endpoint(), count: $count, delayMs: 0));

        return $server;
    }

    /**
     * Measures all rows in each run, each time beginning with another one. If a row fails, the table notes it and the others go on.
     *
     * @param array<string, callable(): array<string, mixed>> $rows by name; each call is one measurement
     */
    public function rotate(Table $table, array $rows, ?int $runs = null): void
    {
        $names = array_keys($rows);
        array_map($table->addRow(...), $names);
        for ($run = 0, $all = $runs ?? $this->settings->runs; $run < $all; $run++) {
            foreach (array_keys($names) as $at) {
                $name = $names[($at + $run) % count($names)];
                $this->say(sprintf('%s %d/%d %s', $table->name, $run + 1, $all, $name));
                try {
                    $table->add($name, $run, $rows[$name]());
                } catch (RuntimeException $error) {
                    $table->fail($name, $error->getMessage());
                    fwrite(STDERR, $error->getMessage() . "\n");
                }
            }
        }
    }

    /** @return array<string, string> the environment in which PHP loads the extension of the other commit */
    public function environmentBefore(): array
    {
        $folder = "{$this->folder->path}/php.d";
        if (!is_dir($folder)) {
            mkdir($folder);
            foreach (explode(',', (string) php_ini_scanned_files()) as $file) {
                if (!str_ends_with(trim($file), 'delayqueue.ini')) {
                    symlink(trim($file), "$folder/" . basename(trim($file)));
                }
            }
            file_put_contents("$folder/99-delayqueue.ini", "extension={$this->settings->before}\n");
        }

        return ['PHP_INI_SCAN_DIR' => $folder];
    }

    public function say(string $what): void
    {
        fprintf(STDERR, "%5d s  %s\n", microtime(true) - $this->started, $what);
    }
}
