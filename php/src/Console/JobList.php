<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue\JobInfo;
use DelayQueue\QueueInterface;
use DelayQueue\State;
use Symfony\Component\Console\Output\OutputInterface;

/** Jobs as list prints them. */
final class JobList
{
    /** In the direction that jobs move, as a search reads them. */
    private const STATES = [State::Delayed, State::Ready, State::Reserved, State::Buried];

    /** @param State|null $state of all jobs; null: they may be in any, which is a column */
    public function __construct(
        private readonly OutputInterface $output,
        private readonly string $format,
        private readonly ?State $state,
        private readonly bool $hasQueues,
    ) {
    }

    /** @return non-empty-list<State> in which the jobs may be */
    public function states(): array
    {
        return $this->state === null ? self::STATES : [$this->state];
    }

    /** How many jobs the queue has in these states. */
    public function count(QueueInterface $queue): int
    {
        return array_sum(array_map($queue->count(...), $this->states()));
    }

    /**
     * @param list<JobInfo> $jobs
     * @param string|null $note below them, for people; null: there is nothing to note
     * @param string $where there are none, if there are none and no note
     */
    public function print(array $jobs, ?string $note, string $where = ''): void
    {
        if ($this->format === Format::JSON) {
            Format::json($this->output, array_map(JobView::toArray(...), $jobs));

            return;
        }
        if ($jobs !== []) {
            $others = ['group', 'due', 'attempts', 'priority', 'payload', 'last error'];
            $heads = $this->columns('queue', 'id', 'state', ...$others);
            Format::table($this->output, $heads, array_map($this->row(...), $jobs));
        } elseif ($note === null) {
            $state = $this->state === null ? '' : "{$this->state->value} ";
            Format::note($this->output, "there are no {$state}jobs $where");
        }
        $note === null || Format::line($this->output, $note);
    }

    /** @return list<string> */
    private function row(JobInfo $job): array
    {
        return $this->columns(
            $job->queue,
            $job->id,
            $job->state->value,
            $job->group ?? '',
            Text::momentAndDistance($job->dueAt),
            "$job->attempts",
            "$job->priority",
            Text::short($job->sealError === null ? $job->body : "($job->sealError)", 40),
            Text::short($job->lastError ?? '', 60),
        );
    }

    /** @return list<string> without those that are the same for all jobs */
    private function columns(string $queue, string $id, string $state, string ...$others): array
    {
        return [...($this->hasQueues ? [$queue] : []), $id, ...($this->state === null ? [$state] : []), ...$others];
    }
}
