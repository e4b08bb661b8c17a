<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Faults\Support;

use DelayQueue;
use DelayQueue\State;
use DelayQueue\Tests\Support\Folder;
use DelayQueue\Tests\Support\Machine;
use DelayQueue\Tests\Support\Php;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\Wait;
use RuntimeException;

/** Producers and workers of one queue, in processes of their own, while its servers fail. */
final class Load
{
    public readonly Folder $folder;

    public int $kills = 0;

    /** @var list<Process> */
    private array $producers = [];

    /** @var list<Process> */
    private array $workers = [];

    /** @var array{producers: int, workers: int, queue: array<string, mixed>, pause: int, longest: int, mix: bool, groups: bool, work: int} */
    private array $options;

    private float $started;

    private string $extension;

    private int $generation = 0;

    /** @param array<string, mixed> $options see programs/; 'producers' and 'workers' are how many, 'work' the longest job in microseconds */
    public function __construct(private readonly string $dsn, private readonly string $queue, array $options = [])
    {
        $this->options = $options + [
            'producers' => 2, 'workers' => 3, 'queue' => [], 'pause' => 500, 'longest' => 300, 'mix' => false, 'groups' => false, 'work' => 2_000,
        ];
        $this->extension = Php::extension();
        $this->folder = new Folder();
        touch($this->pushes());
        touch($this->runs());
        $this->started = microtime(true);
        for ($n = 0; $n < $this->options['workers']; $n++) {
            $this->workers[] = $this->worker($n);
        }
        for ($n = 0; $n < $this->options['producers']; $n++) {
            $this->producers[] = $this->producer("p$n");
        }
    }

    /** Lets the load flow for so long; what else happens does so in between. */
    public function flow(float $seconds): void
    {
        [$pushes, $runs] = [$this->size($this->pushes()) + 2_000, $this->size($this->runs()) + 2_000];
        usleep((int) ($seconds * 1e6));
        $flows = fn () => $this->size($this->pushes()) > $pushes && $this->size($this->runs()) > $runs;
        Wait::until($flows, 30, 'jobs are pushed and executed');
    }

    /** Seconds until the next job after this moment is executed, without those in which the machine stood still. */
    public function secondsUntilTheNextRun(float $patience = 30.0): float
    {
        $started = microtime(true);
        $before = $this->size($this->runs());
        Wait::until(fn () => $this->size($this->runs()) > $before, $patience, 'another job is executed');

        return Machine::lasted($started);
    }

    /** A worker is killed with no chance to tidy up, and another takes its place. */
    public function killAWorker(): void
    {
        $n = array_rand($this->workers);
        $this->workers[$n]->kill();
        file_put_contents($this->runs(), "killed {$this->workers[$n]->pid}\n", FILE_APPEND);
        $this->workers[$n] = $this->worker($n);
        $this->kills++;
    }

    /** The turns of groups, from the log of the workers. */
    public function turns(): Turns
    {
        return new Turns($this->runs());
    }

    public function killAProducer(): void
    {
        $n = array_rand($this->producers);
        $this->producers[$n]->kill();
        $this->producers[$n] = $this->producer("p$n-" . ++$this->kills);
    }

    /**
     * A deployment: one worker after the other is replaced by one of the new kind, and then the producers.
     *
     * @param array<string, mixed> $queue options of DelayQueue
     * @param string|null $extension the file of the extension
     */
    public function upgrade(array $queue = [], ?string $extension = null, float $between = 0.3): void
    {
        $this->options['queue'] = $queue + $this->options['queue'];
        $this->extension = $extension ?? $this->extension;
        foreach ($this->workers as $n => $worker) {
            $worker->signal(SIGTERM);
            $this->end($worker);
            $this->workers[$n] = $this->worker($n);
            $this->flow($between);
        }
        foreach ($this->producers as $n => $producer) {
            $producer->signal(SIGTERM);
            $this->end($producer);
            $this->producers[$n] = $this->producer("p$n-new" . ++$this->generation);
            $this->flow($between);
        }
    }

    /** A worker is stopped as by its machine, for longer than its leases last. */
    public function freezeAWorker(): Process
    {
        $worker = $this->workers[array_rand($this->workers)];
        $worker->signal(SIGSTOP);

        return $worker;
    }

    public function stopPushing(): void
    {
        foreach ($this->producers as $producer) {
            $producer->signal(SIGTERM);
        }
        array_map($this->end(...), $this->producers);
    }

    /** Stops the producers, waits until nothing is left, and makes up the account. */
    public function account(float $patience = 10.0): Account
    {
        $this->stopPushing();
        $pushed = microtime(true);
        $queue = new DelayQueue($this->queue, $this->dsn, $this->options['queue'] + ['readTimeout' => 60]);
        $left = [];
        try {
            // The leases of killed workers end within their 3 s.
            Wait::until(static fn () => $queue->count() === 0, $patience, 'everything is done');
        } catch (RuntimeException) {
            foreach (State::cases() as $state) {
                for ($page = 0; $jobs = $queue->list($state, $page * 1000, 1000); $page++) {
                    array_push($left, ...array_column($jobs, 'id'));
                }
            }
        }
        $drained = microtime(true) - $pushed;
        $findings = array_filter($queue->doctor(), static fn (array $finding) => $finding['level'] === 'error');
        foreach ($this->workers as $worker) {
            $worker->signal(SIGTERM);
        }
        array_map($this->end(...), $this->workers);

        return new Account(
            $this->pushes(),
            $this->runs(),
            $left,
            array_column($findings, 'message'),
            $queue->stats(),
            $pushed - $this->started,
            $drained,
        );
    }

    public function remove(): void
    {
        foreach ([...$this->producers, ...$this->workers] as $process) {
            $process->kill();
        }
        $this->folder->remove();
    }

    private function end(Process $process): void
    {
        if ($process->exitCode(30) !== 0) {
            throw new RuntimeException("a process failed: {$process->errors()}");
        }
    }

    private function pushes(): string
    {
        return $this->folder->path . '/pushes';
    }

    private function runs(): string
    {
        return $this->folder->path . '/runs';
    }

    private function size(string $file): int
    {
        clearstatcache();

        return (int) filesize($file);
    }

    private function producer(string $name): Process
    {
        $options = array_intersect_key($this->options, ['queue' => 1, 'pause' => 1, 'longest' => 1, 'mix' => 1, 'groups' => 1]);

        return $this->program('produce.php', $this->pushes(), $name, json_encode($options));
    }

    /** One after the other in a loop of consume(), with batches, and with reserve() and ack(). */
    private function worker(int $n): Process
    {
        $options = ['queue' => (object) $this->options['queue'], 'loop' => [1, 5, 0][$n % 3], 'longest' => $this->options['work']];

        return $this->program('work.php', $this->runs(), json_encode($options));
    }

    private function program(string $name, string ...$arguments): Process
    {
        $command = str_replace('extension=' . Php::extension(), "extension=$this->extension", Php::command());
        $process = new Process([...$command, dirname(__DIR__) . "/programs/$name", $this->dsn, $this->queue, ...$arguments]);
        $process->hear('ready');

        return $process;
    }
}
