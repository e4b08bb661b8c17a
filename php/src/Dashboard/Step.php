<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard;

use DelayQueue\Exception;

/** How far a change of many jobs has come, between two requests. */
final class Step
{
    public const TITLES = ['cancel' => 'Cancel', 'kick' => 'Try again', 'reschedule' => 'Move', 'move' => 'Move to another queue'];

    /** Jobs that are changed, that were left as they are, and that were read. */
    public int $done;
    public int $left;
    public int $read;

    /** Where it goes on; null: nowhere. */
    public ?string $after;

    public ?Exception $error = null;

    private readonly int $total;

    /**
     * @param string $path of the form
     * @param string $page that shows the jobs
     * @param array<string, string> $parameters of this page
     * @param array<string, string> $arguments of the change
     * @param callable(string): ?string $field of the step before
     */
    public function __construct(
        private readonly string $path,
        private readonly string $change,
        private readonly string $page,
        private readonly array $parameters,
        private readonly array $arguments,
        callable $field,
    ) {
        [$this->done, $this->left, $this->read, $this->total] = array_map(static fn (string $name): int => max(0, (int) $field($name)), ['done', 'left', 'read', 'total']);
        $this->after = $field('after') ?? '';
    }

    public function brokenOff(Exception $error): self
    {
        $this->error = $error;

        return $this;
    }

    /** As far as it has come. */
    public function done(): Done
    {
        $numbers = ['change' => $this->change, 'done' => (string) $this->done, 'left' => (string) $this->left];

        return new Done(Told::Found, $this->page, $this->parameters + $this->arguments + $numbers);
    }

    public function title(): string
    {
        return self::TITLES[$this->change] . ": jobs of queue {$this->parameters['queue']}";
    }

    /** @return list<Html|null> the script sends the form behind the bar by itself; not after an error */
    public function body(Site $site): array
    {
        $numbers = array_map(strval(...), ['done' => $this->done, 'left' => $this->left, 'read' => $this->read, 'total' => $this->total]);
        $all = max($this->read, $this->total);
        $error = $this->error === null ? null : Html::p(Html::stored($this->error->getMessage(), 2000), class: 'bad');
        $left = $this->left === 0 ? '' : Words::number($this->left) . ' are left as they are, ';

        $step = Html::section(
            Html::p(Words::number($this->done) . " jobs are changed, $left" . Words::number($this->read) . ' of ' . Words::number($all) . ' are read.', role: 'status'),
            Html::progress(value: (string) $this->read, max: (string) max($all, 1), aria_label: 'Jobs that are read'),
            $error,
            Parts::form($site, $this->path, $this->parameters + $this->arguments + $numbers + ['after' => $this->after], 'Go on'),
            id: 'step',
        );
        $told = ['told' => Told::Found->value, 'done' => $numbers['done'], 'left' => $numbers['left']];

        return [$step, Html::p(Html::a('Stop here', href: $site->url($this->page, $this->parameters + $told), id: 'stop'))];
    }
}
