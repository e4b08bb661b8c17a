<?php

/** Deeds of the jobs of worker.php. */

declare(strict_types=1);

use DelayQueue\Bury;
use DelayQueue\Job;
use DelayQueue\Release;
use DelayQueue\TimeoutException;

// In C, without looking at PHP's interrupt flag; no signal breaks it off.
$burn = static fn (int $iterations): string => hash_pbkdf2('sha512', 'password', 'salt', $iterations);

// Until the test says so; a signal may break the reading off.
$hold = static function (): void {
    while (trim((string) fgets(STDIN)) !== 'go' && !feof(STDIN)) {
    }
};

return [
    'hold' => $hold,
    'hold and throw' => static function () use ($hold): void {
        $hold();
        throw new RuntimeException('thrown');
    },
    // The next word of the test: the name of another deed, or 'go'.
    'told' => static function (Job $job, DelayQueue $queue): mixed {
        $told = trim((string) fgets(STDIN));

        return $told === 'go' ? null : (require __FILE__)[$told]($job, $queue);
    },
    'hold and release' => static function () use ($hold): void {
        $hold();
        throw new Release('1h');
    },
    'hold and bury' => static function () use ($hold): void {
        $hold();
        throw new Bury('set aside');
    },
    'sleep' => static fn (Job $job) => usleep((int) ($job->payload['seconds'] * 1e6)),
    'stick' => static fn () => $burn(1_000_000_000_000),
    'compute' => static function (Job $job) use ($burn): void {
        $started = hrtime(true);
        $burn(100_000);
        $each = (hrtime(true) - $started) / 100_000 / 1e9;
        $burn((int) ($job->payload['seconds'] / $each) + 1);
    },
    'loop' => static function (): void {
        while (true) {
        }
    },
    'sleep long' => static fn () => sleep(100),
    'catch' => static function (): void {
        try {
            while (true) {
            }
        } catch (TimeoutException $e) {
            echo "caught {$e->getMessage()}\n";
        }
    },
    'finally' => static function (): void {
        try {
            while (true) {
            }
        } finally {
            echo "finally\n";
        }
    },
    'swallow' => static function (): void {
        while (true) {
            try {
                while (true) {
                }
            } catch (Throwable) {
            }
        }
    },
    'handle signals' => static function (): void {
        pcntl_async_signals(true);
        pcntl_signal(SIGTERM, static function (): void {
            echo "still handled\n";
        });
        register_shutdown_function(static fn () => posix_kill(getmypid(), SIGTERM));
    },
    'hold and exit' => static function (Job $job) use ($hold): void {
        $hold();
        register_shutdown_function(static function (): void {
            echo 'shut down at ', hrtime(true), "\n";
        });
        echo hrtime(true), "\n";
        exit($job->payload['status']);
    },
    'compile' => static fn () => eval('function exists_twice() {} function exists_twice() {}'),
    'fork' => static function (Job $job, DelayQueue $queue): void {
        $do = $job->payload['child'];
        $child = pcntl_fork();
        if ($child > 0) {
            if ($do === 'stay') {
                echo "parent goes on\n";

                return;
            }
            if ($do === 'be killed') {
                posix_kill($child, SIGTERM);
            }
            pcntl_waitpid($child, $status);
            echo 'parent saw ', pcntl_wifexited($status) ? pcntl_wexitstatus($status) : 'signal ' . pcntl_wtermsig($status), "\n";

            return;
        }
        if (!in_array($do, ['stay', 'be killed'], true)) {
            echo 'child has ', count(scandir('/proc/self/task')) - 2, " thread\n";
        }
        switch ($do) {
            case 'exit':
                exit(4);
            case 'ack':
                try {
                    $job->ack();
                } catch (Throwable $e) {
                    echo 'child ', $e::class, "\n";
                }
                exit(0);
            case 'push':
                $other = new DelayQueue('of-the-child', $GLOBALS['dsn']);
                $other->push('x');
                $other->reserve()->ack();
                $queue->cancel($queue->push('x', '1h'));
                echo "child pushed and took it\n";
                exit(0);
            case 'fatal':
                trigger_error('broken', E_USER_ERROR);
            case 'throw':
                throw new RuntimeException('thrown');
            case 'stay':
                fclose(STDOUT);
                usleep(700_000);
                exit(0);
            case 'be killed':
                sleep(20);
                exit(0);
        }
    },
    'exit' => static fn (Job $job) => exit($job->payload['status']),
    'exit later' => static function (Job $job): void {
        register_shutdown_function(static fn () => exit(5));
        exit($job->payload['status']);
    },
    'fatal' => static fn () => trigger_error('broken beyond repair', E_USER_ERROR),
    'undefined' => static fn () => this_function_does_not_exist(),
    'memory' => static function (): void {
        ini_set('memory_limit', '16M');
        for ($all = [];;) {
            $all[] = str_repeat('x', 100_000 + count($all));
        }
    },
    'stop' => static fn (Job $job, DelayQueue $queue) => $queue->stop(),
    'nested' => static function (Job $job, DelayQueue $queue): void {
        $other = $queue->reserve();
        echo "nested $other->id\n";
        $other->release();
        $queue->reserveJob($queue->push('x', '1h'))->ack();
    },
    'kill' => static fn (Job $job) => posix_kill(getmypid(), $job->payload['signal']),
    'recurse' => static function (): void {
        // C recursion: each level of __toString() and strval() needs stack.
        $deep = new class {
            public function __toString(): string
            {
                return implode('', array_map('strval', [$this]));
            }
        };
        echo strval($deep);
    },
    'throw' => static fn () => throw new RuntimeException('thrown'),
    'error' => static fn () => throw new Error('an error'),
    'say lost' => static function (Job $job): void {
        for ($until = microtime(true) + 20; !$job->isLost() && microtime(true) < $until;) {
            usleep(10_000);
        }
        echo 'lost: ', $job->isLost() ? 'yes' : 'no', "\n";
    },
];
