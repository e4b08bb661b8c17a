<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

use DelayQueue\Console\Text;

/** The lines of a parent about its workers, or about the process of a role. */
final class PoolLog
{
    /** @param Role|null $role null: it is about the workers */
    public function __construct(private readonly Notices $notices, private readonly ?Role $role = null)
    {
    }

    /** @param array{queues: list<string>, redis: string, prefix: string} $place */
    public function starting(int $workers, array $place): void
    {
        $this->notices->say('starting', "$workers worker" . ($workers === 1 ? '' : 's') . ' for ' . Place::text($place), $place);
    }

    public function started(Child $child): void
    {
        $this->notices->say('started', self::name($child) . ' started', self::fields($child));
    }

    public function startFailed(Slot $slot, string $why, float $pause): void
    {
        $this->notices->say('startFailed', "{$slot->name()}: $why; tried again in " . Text::length($pause), self::place($slot));
    }

    public function ready(Child $child): void
    {
        $this->notices->say('ready', self::name($child) . ' is ready', self::fields($child));
    }

    /** @param float|null $pause before the next one; null: nobody follows */
    public function ended(Child $child, ?float $pause = null): void
    {
        $then = $pause === null ? '' : '; another starts ' . ($pause > 0 ? 'in ' . Text::length($pause) : 'now');
        $ran = $child->inHand();
        $message = self::name($child) . " {$child->end()}" . ($ran === null ? '' : self::ran($ran, $child->exitCode() === null)) . $then;
        $jobs = array_map(static fn (array $job): array => ['queue' => $job['queue'], 'id' => $job['id'], 'attempt' => $job['attempt']], $ran['jobs'] ?? []);
        $this->notices->say('ended', $message, self::fields($child) + ($jobs === [] ? [] : ['jobs' => $jobs]));
    }

    /**
     * @param array{count: int, jobs: list<array{queue: string, id: string, attempt: int, of: int}>} $ran
     * @param bool $wasKilled nobody was left to fail the jobs
     */
    private static function ran(array $ran, bool $wasKilled): string
    {
        $first = $ran['jobs'][0];
        if ($ran['count'] > 1) {
            $more = $ran['count'] - count($ran['jobs']);

            return " while it ran jobs of {$first['queue']}: " . implode(', ', array_column($ran['jobs'], 'id')) . ($more > 0 ? " and $more more" : '');
        }
        $attempt = "attempt {$first['attempt']}" . ($first['of'] > 0 ? " of {$first['of']}" : '');
        $isLast = $wasKilled && $first['of'] > 0 && $first['attempt'] >= $first['of'];

        return " while it ran job {$first['id']} of {$first['queue']}, $attempt" . ($isLast ? ': the job is buried when its lease ends' : '');
    }

    /**
     * @param list<string> $names
     * @param array{queue: string, wait: float} $load
     */
    public function added(array $names, array $load): void
    {
        $are = count($names) === 1 ? 'is' : 'are';
        $this->notices->say('added', implode(', ', $names) . " $are added: jobs of {$load['queue']} wait " . Text::length($load['wait']), $load);
    }

    public function removed(string $name, Scale $scale): void
    {
        $why = 'no job has waited longer than ' . Text::length($scale->target) . ' for ' . Text::length($scale->calm);
        $this->notices->say('removed', "$name is to end: $why");
    }

    /** A process beside the workers stops after them, without a word. */
    public function stopping(): void
    {
        $this->role === null && $this->notices->say('stopping', 'stopping: the workers finish the jobs they have');
    }

    public function reload(): void
    {
        $this->notices->say('reload', $this->role === null
            ? 'SIGHUP: new workers start, and the old ones work until all of the new ones are ready'
            : "a new {$this->role->value} starts, and the old one works until the new one is ready");
    }

    /** @param Child|null $first of the new ones; null: there were no old ones */
    public function reloaded(?Child $first): void
    {
        $place = $first?->place();
        $message = match (true) {
            $first === null => 'there was no ' . ($this->role->value ?? 'worker') . ' to replace',
            $place === null => "the new {$this->role?->value} is ready: the old one ends",
            default => 'all of the new workers are ready for ' . Place::text($place) . ': the old ones finish the jobs they have',
        };
        $this->notices->say('reloaded', $message, $place ?? []);
    }

    /** @param Child|null $child null: the system did not start it */
    public function reloadFailed(?Child $child, string $why): void
    {
        $who = $child === null ? 'a new ' . ($this->role->value ?? 'worker') : self::name($child) . ', the new one,';
        $old = $this->role === null ? 'the old ones stay' : 'the old one stays';
        $this->notices->say('reloadFailed', "$who $why: $old", $child === null ? [] : self::fields($child));
    }

    private static function name(Child $child): string
    {
        return "{$child->slot->name()} (process $child->pid)";
    }

    /** @return array<string, int|string> */
    private static function fields(Child $child): array
    {
        return self::place($child->slot) + ['process' => $child->pid];
    }

    /** @return array<string, int|string> */
    private static function place(Slot $slot): array
    {
        return $slot->role === null ? ['worker' => $slot->number] : ['role' => $slot->role->value];
    }
}
