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
     * The peers of the settings that this case is for.
     *
     * @param callable(Traits): bool $fits
     * @param bool $variants also those that differ from another peer in an option
     *
     * @return list<string>
     */
    public function peers(callable $fits, bool $variants = false): array
    {
        $takesPart = static function (string $peer) use ($fits, $variants): bool {
            $traits = Peers::traits($peer);

            return $fits($traits) && ($variants || !$traits->isVariant);
        };

        return array_values(array_filter($this->settings->peers, $takesPart));
    }

    /** A fresh, empty server of the kind the peer needs. It ends when nobody holds it any more. */
    public function server(string $peer, array $under = []): Server
    {
        $directory = $this->folder->path . '/' . ++$this->servers;
        mkdir($directory);

        return Server::start(Peers::traits($peer)->server, $directory, $under);
    }

    /**
     * All rows, in each run, each time beginning with another one. What goes wrong with a row is noted in the table; the others
     * go on.
     *
     * @template T
     *
     * @param list<T> $rows
     * @param callable(T): string $name
     * @param callable(T, Table, int): void $measure
     */
    public function rotate(Table $table, array $rows, callable $name, callable $measure, ?int $runs = null): void
    {
        foreach ($rows as $row) {
            $table->add($name($row), []);
        }
        for ($run = 0, $all = $runs ?? $this->settings->runs; $run < $all; $run++) {
            foreach (array_keys($rows) as $at) {
                $row = $rows[($at + $run) % count($rows)];
                $this->say(sprintf('%s %d/%d %s', $table->name(), $run + 1, $all, $name($row)));
                try {
                    $measure($row, $table, $run);
                } catch (RuntimeException $error) {
                    $table->fail($name($row), $error->getMessage());
                    fwrite(STDERR, $error->getMessage() . "\n");
                }
            }
        }
    }

    public function say(string $what): void
    {
        fprintf(STDERR, "%5d s  %s\n", microtime(true) - $this->started, $what);
    }
}
