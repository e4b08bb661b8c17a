<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Faults\Support;

use RuntimeException;

/** A load with durability 'replica', and faults at random moments, one of the servers at a time. */
final class Soak
{
    private const QUEUE = 'soak';

    private const PARTITIONS = 6;

    private Setup $setup;

    private Load $load;

    /** @var array<string, int> */
    private array $faults = [];

    private float $began;

    public function __construct(private readonly string $kind, int $pause)
    {
        $directives = ['min-replicas-to-write 1', 'min-replicas-max-lag 2'];
        // In a cluster a master has one replica, and takes no write while that is away.
        $this->setup = $kind === 'cluster' ? new Cluster($directives) : new Sentinels($directives);
        $this->load = new Load($this->setup->dsn(), self::QUEUE, [
            'producers' => 2, 'workers' => 4, 'pause' => $pause, 'longest' => 3_000, 'mix' => true, 'work' => 2_000,
            'queue' => ['durability' => 'replica'] + ($kind === 'cluster' ? ['partitions' => self::PARTITIONS] : []),
        ]);
        $this->began = microtime(true);
    }

    public function run(float $seconds): Account
    {
        $ofProcesses = ['killAWorker', 'killAWorker', 'killAProducer', 'freezeAWorker', 'forgetScripts', 'closeConnections'];
        $ofServers = ['killTheMaster', 'freezeTheMaster', 'killAReplica', 'freezeAReplica', 'failOverAsPlanned'];
        $ofServers[] = $this->kind === 'cluster' ? 'moveASlot' : 'killASentinel';
        $this->load->flow(2);
        for ($end = $this->began + $seconds; microtime(true) < $end;) {
            $fault = random_int(0, 2) === 0 ? $ofServers[array_rand($ofServers)] : $ofProcesses[array_rand($ofProcesses)];
            try {
                $this->$fault();
                $this->faults[$fault] = ($this->faults[$fault] ?? 0) + 1;
                fprintf(STDERR, "%6.1f s  %s\n", microtime(true) - $this->began, $fault);
            } catch (RuntimeException $e) {
                // A server that was just asked may be gone by itself, say a master that the last fault made a replica.
                fprintf(STDERR, "%6.1f s  %s: %s\n", microtime(true) - $this->began, $fault, $e->getMessage());
            }
            if (in_array($fault, $ofServers, true)) {
                $this->setup->heal();
                $this->setup->untilWhole(120);
            }
            $this->load->flow(random_int(500, 2000) / 1000);
        }

        return $this->load->account(120);
    }

    /** Leaves the logs of a run that went wrong. */
    public function keepLogs(): void
    {
        $folder = sys_get_temp_dir() . '/delayqueue-soak-' . getmypid();
        rename($this->load->folder->path, $folder);
        mkdir($this->load->folder->path);
        fwrite(STDERR, "the logs of producers and workers are in $folder\n");
    }

    public function remove(): void
    {
        $this->load->remove();
        $this->setup->remove();
    }

    public function __toString(): string
    {
        ksort($this->faults);
        $all = array_sum($this->faults);
        $each = implode(', ', array_map(static fn (string $name, int $times) => "$name $times", array_keys($this->faults), $this->faults));

        return sprintf('%s, %.1f minutes; %d faults: %s', $this->kind, (microtime(true) - $this->began) / 60, $all, $each);
    }

    private function killAWorker(): void
    {
        $this->load->killAWorker();
    }

    private function killAProducer(): void
    {
        $this->load->killAProducer();
    }

    private function freezeAWorker(): void
    {
        $worker = $this->load->freezeAWorker();
        usleep(3_500_000);
        $worker->signal(SIGCONT);
    }

    private function forgetScripts(): void
    {
        $this->aMaster()->ask('SCRIPT', 'FLUSH');
    }

    private function closeConnections(): void
    {
        $this->aMaster()->ask('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    }

    private function killTheMaster(): void
    {
        [$queue, $master] = [$this->aTag(), $this->aMaster()];
        $queue = $this->kind === 'cluster' ? $this->tagOf($master) : $queue;
        $master->kill();
        $this->setup->untilAnotherLeads($queue, $master);
    }

    private function freezeTheMaster(): void
    {
        $master = $this->aMaster();
        $queue = $this->tagOf($master);
        $master->freeze();
        // Half of the time it is back before anybody takes its place.
        if (random_int(0, 1)) {
            usleep(900_000);
        } else {
            $this->setup->untilAnotherLeads($queue, $master);
        }
        $master->thaw();
    }

    private function killAReplica(): void
    {
        $this->aReplica()->kill();
        usleep(random_int(0, 2_000_000));
    }

    private function freezeAReplica(): void
    {
        $replica = $this->aReplica();
        $replica->freeze();
        usleep(random_int(0, 3_000_000));
        $replica->thaw();
    }

    /** As docs/reliability.md tells operators to do it. */
    private function failOverAsPlanned(): void
    {
        if ($this->setup instanceof Cluster) {
            $this->setup->failOver($this->aTag());

            return;
        }
        $master = $this->aMaster();
        $master->ask('CLIENT', 'PAUSE', '10000', 'WRITE');
        $this->setup->failOver();
        $this->setup->untilAnotherLeads(self::QUEUE, $master);
    }

    private function killASentinel(): void
    {
        $sentinels = $this->setup->sentinels();
        $sentinels[array_rand($sentinels)]->kill();
        usleep(random_int(0, 2_000_000));
    }

    private function moveASlot(): void
    {
        $tag = $this->aTag();
        $from = $this->setup->masterOf($tag);
        $others = array_filter($this->setup->masters(), static fn (Node $node) => $node !== $from);
        $this->setup->moveSlot($this->setup->slotOf($tag), $others[array_rand($others)], static fn () => usleep(20_000));
    }

    /** The name under which one of the partitions has its keys. */
    private function aTag(): string
    {
        $partition = $this->kind === 'cluster' ? random_int(0, self::PARTITIONS - 1) : 0;

        return self::QUEUE . ($partition > 0 ? "#$partition" : '');
    }

    private function tagOf(Node $master): string
    {
        do {
            $tag = $this->aTag();
        } while ($this->setup->masterOf($tag) !== $master);

        return $tag;
    }

    private function aMaster(): Node
    {
        return $this->setup->masterOf($this->aTag());
    }

    private function aReplica(): Node
    {
        $replicas = $this->setup->replicasOf($this->aTag());

        return $replicas[array_rand($replicas)];
    }
}
