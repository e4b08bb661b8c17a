<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard;

use DelayQueue\Exception;

/** How far a change of many jobs has come, between two requests. */
final class Step
{
    public const TITLES = [
        'cancel' => 'Cancel', 'kick' => 'Try again', 'reschedule' => 'Move', 'move' => 'Move to another queue',
    ];

    /** Jobs that are changed. */
    public int $done;

    /** Jobs that were found and left as they are. */
    public int $left;

    /** Jobs that were read. */
    public int $read;

    /** Where it goes on; '' is the first job, null: nowhere. */
    public ?string $after;

    /** Why it goes on only when somebody says so. */
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
        $number = static fn (string $name): int => max(0, (int) $field($name));
        [$this->done, $this->left, $this->read] = [$number('done'), $number('left'), $number('read')];
        $this->total = $number('total');
        $this->after = $field('after') ?? '';
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

    /** @return list<Html> the script sends the form behind the bar by itself; after an error there is none behind it */
    public function body(Site $site): array
    {
        $all = max($this->read, $this->total);
        $words = Words::number($this->done) . ' jobs are changed, '
            . ($this->left === 0 ? '' : Words::number($this->left) . ' are left as they are, ')
            . Words::number($this->read) . ' of ' . Words::number($all) . ' are read.';
        $done = ['done' => (string) $this->done, 'left' => (string) $this->left];
        $fields = $done + ['read' => (string) $this->read, 'total' => (string) $this->total, 'after' => $this->after];
        $stop = $site->url($this->page, $this->parameters + ['told' => Told::Found->value] + $done);

        return [
            Html::section(
                Html::p($words, role: 'status'),
                Html::progress(
                    value: (string) $this->read,
                    max: (string) max($all, 1),
                    aria_label: 'Jobs that are read',
                ),
                $this->error === null ? null : Html::p(Html::stored($this->error->getMessage(), 2000), class: 'bad'),
                Parts::form($site, $this->path, $this->parameters + $this->arguments + $fields, 'Go on'),
                id: 'step',
            ),
            Html::p(Html::a('Stop here', href: $stop, id: 'stop')),
        ];
    }
}
