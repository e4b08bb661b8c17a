<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Console;

use DelayQueue\Laravel\ConsumingWorker;
use Illuminate\Contracts\Cache\Repository;
use Illuminate\Queue\Console\WorkCommand as BaseCommand;
use Symfony\Component\Console\Attribute\AsCommand;

/** queue:work for throughput: with its options and its output, in the extension's own loop. */
// By the attribute artisan knows the name without making the command, its worker and the cache at each start.
#[AsCommand(name: 'delayqueue:work')]
final class WorkCommand extends BaseCommand
{
    public function __construct(ConsumingWorker $worker, Repository $cache)
    {
        // The options of the version that is there.
        $this->signature = str_replace('queue:work', 'delayqueue:work', $this->signature)
            . ' {--shutdown-timeout=0 : How long after SIGTERM, SIGINT or SIGQUIT the job in hand may run; 0: to its end}';
        $this->description = 'Start processing jobs of a delayqueue connection in the loop of the extension';
        parent::__construct($worker, $cache);
    }

    protected function runWorker($connection, $queue)
    {
        if ($this->option('once')) {
            $this->input->setOption('max-jobs', '1');
            $this->input->setOption('stop-when-empty', true);
        }
        $this->worker->shutdownTimeout = (string) $this->option('shutdown-timeout');

        return $this->worker->setName($this->option('name'))->setCache($this->cache)
            ->consume($connection, $queue, $this->gatherWorkerOptions());
    }
}
