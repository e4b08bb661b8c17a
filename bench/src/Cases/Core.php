<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Cases;

use DelayQueue\Bench\Benchmark;
use DelayQueue\Bench\Session;
use DelayQueue\Bench\Text;
use RuntimeException;

/** The micro-benchmarks of the Rust core, bench/core.rs. */
final class Core implements Benchmark
{
    public function run(Session $session): iterable
    {
        $session->say('core: cargo bench (compiles first)');
        $command = 'cd ' . escapeshellarg(dirname(__DIR__, 3)) . ' && cargo bench --locked --quiet --no-default-features --bench core';
        exec($command, $lines, $status);
        if ($status !== 0) {
            throw new RuntimeException('cargo bench failed; its message is above');
        }
        yield new Text('core', 'The core by itself (bench/core.rs)', implode("\n", $lines));
    }

    public function packages(): array
    {
        return [];
    }
}
