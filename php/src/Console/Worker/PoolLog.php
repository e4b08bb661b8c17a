<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

use DelayQueue\Console\Text;

/** The lines of a parent about its workers. */
final class PoolLog
{
    public function __construct(private readonly Notices $notices)
    {
    }

    /** @param array{queues: list<string>, redis: string, prefix: string} $place */
    public function starting(int $workers, array $place): void
    {
        $this->notices->say('starting', "$workers workers for " . Place::text($place), $place);
    }

    public function started(Child $child): void
    {
        $this->notices->say('started', self::name($child) . ' started', self::fields($child));
    }

    public function startFailed(Slot $slot, string $why, float $pause): void
    {
        $this->notices->say('startFailed', "worker $slot->number: $why; tried again in " . Text::length($pause), ['worker' => $slot->number]);
    }

    public function ready(Child $child): void
    {
        $this->notices->say('ready', self::name($child) . ' is ready', self::fields($child));
    }

    /** @param float|null $pause before the next one; null: nobody follows */
    public function ended(Child $child, ?float $pause = null): void
    {
        $then = $pause === null ? '' : '; another starts ' . ($pause > 0 ? 'in ' . Text::length($pause) : 'now');
        $this->notices->say('ended', self::name($child) . " {$child->end()}$then", self::fields($child));
    }

    public function stopping(): void
    {
        $this->notices->say('stopping', 'stopping: the workers finish the jobs they have');
    }

    public function reload(): void
    {
        $this->notices->say('reload', 'SIGHUP: new workers start, and the old ones work until all of the new ones are ready');
    }

    /** @param array{queues: list<string>, redis: string, prefix: string}|null $place of the new workers; null: there were no old ones */
    public function reloaded(?array $place): void
    {
        $message = $place === null
            ? 'there was no worker to replace'
            : 'all of the new workers are ready for ' . Place::text($place) . ': the old ones finish the jobs they have';
        $this->notices->say('reloaded', $message, $place ?? []);
    }

    /** @param Child|null $child null: the system did not start it */
    public function reloadFailed(?Child $child, string $why): void
    {
        $who = $child === null ? 'a new worker' : self::name($child) . ', the new one,';
        $this->notices->say('reloadFailed', "$who $why: the old ones stay", $child === null ? [] : self::fields($child));
    }

    private static function name(Child $child): string
    {
        return "worker $child->slot (process $child->pid)";
    }

    /** @return array<string, int> */
    private static function fields(Child $child): array
    {
        return ['worker' => $child->slot, 'process' => $child->pid];
    }
}
