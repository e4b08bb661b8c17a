<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard\Pages;

use DelayQueue\Console\LimitsView;
use DelayQueue\Dashboard\Html;
use DelayQueue\Dashboard\Page;
use DelayQueue\Dashboard\Parts;
use DelayQueue\Dashboard\Request;
use DelayQueue\Dashboard\Site;
use DelayQueue\Dashboard\Words;
use DelayQueue\GroupLimits;
use DelayQueue\QueueInterface;

/** The groups of a queue by name, their jobs, and what limits them. */
final class GroupsPage implements Page
{
    private const ON_A_PAGE = 50;

    public function title(Request $request): string
    {
        return 'Groups of queue ' . ($request->query('queue') ?? 'default');
    }

    public function body(Request $request, Site $site): array
    {
        $name = $request->query('queue') ?? 'default';
        $queue = $site->queue($name);
        $groups = $queue->groups(self::ON_A_PAGE, $request->query('after') ?? '');
        ['queue' => $whole, 'others' => $others, 'groups' => $limits] = $queue->limits();
        $now = $queue->now();
        $last = count($groups) === self::ON_A_PAGE ? $groups[self::ON_A_PAGE - 1] : null;
        $words = static fn (?GroupLimits $limits): string => $limits === null ? 'none' : LimitsView::toText($limits);

        return [
            Html::p(Html::a('Queue ', Html::stored($name), href: $site->url('/queue', ['queue' => $name]))),
            Parts::facts(['Limits of the whole queue' => $words($whole), 'Limits of each group without its own' => $words($others)]),
            Parts::live(
                'groups',
                Parts::table(
                    'Groups, by name',
                    ['Group', 'Waiting#', 'Reserved#', 'Next turn', 'Closed', 'Limits', 'Change'],
                    array_map(fn (string $group): array => $this->row($queue, $group, $limits[$group] ?? null, $now, $site), $groups),
                    'No group has jobs or limits.',
                ),
            ),
            $last === null ? null : Html::nav(Html::a('More', href: $site->url('/groups', ['queue' => $name, 'after' => $last])), aria_label: 'Pages of groups'),
        ];
    }

    /** @return list<mixed> */
    private function row(QueueInterface $queue, string $group, ?GroupLimits $limits, float $now, Site $site): array
    {
        $stats = $queue->groupStats($group);
        $hidden = ['queue' => $queue->name(), 'group' => $group];

        return [
            Html::stored($group, 60),
            Words::number($stats->waiting),
            Words::number($stats->reserved),
            match (true) {
                $stats->nextTurnAt === null => '–',
                $stats->nextTurnAt <= $now => 'now',
                default => Words::moment($stats->nextTurnAt, $now),
            },
            match (true) {
                !$stats->paused => '',
                $stats->closedUntil === null => 'until it is opened',
                default => Words::moment($stats->closedUntil, $now),
            },
            $limits === null ? '' : LimitsView::toText($limits),
            [
                $stats->paused
                    ? Parts::form($site, '/group/resume', $hidden, 'Open')
                    : Parts::form($site, '/group/pause', $hidden + ['for' => '15m'], 'Close for 15 minutes'),
                $stats->waiting === 0 ? null : Parts::danger(
                    $site,
                    '/group/cancel',
                    $hidden + ['total' => (string) $stats->waiting],
                    'Cancel its jobs',
                    'Cancel ' . Words::number($stats->waiting) . ' jobs',
                ),
            ],
        ];
    }
}
