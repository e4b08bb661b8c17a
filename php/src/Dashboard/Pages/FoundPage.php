<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard\Pages;

use DelayQueue\Dashboard\Html;
use DelayQueue\Dashboard\Page;
use DelayQueue\Dashboard\Parts;
use DelayQueue\Dashboard\Request;
use DelayQueue\Dashboard\Site;
use DelayQueue\Dashboard\Words;

/** Between two steps of a change of many jobs: how far it is, and a form that goes on. The script sends it by itself. */
final class FoundPage implements Page
{
    private const CHANGES = ['cancel' => 'Cancel', 'kick' => 'Try again', 'reschedule' => 'Move', 'move' => 'Move to another queue'];

    public function title(Request $request): string
    {
        return (self::CHANGES[$request->query('change') ?? ''] ?? 'Change') . ': jobs of queue ' . $request->query('queue');
    }

    public function body(Request $request, Site $site): array
    {
        $change = $request->query('change') ?? '';
        $given = array_intersect_key($request->parameters(), array_flip(['queue', 'state', 'tag', 'header', 'text', 'error', 'total', 'delay', 'to', 'after', 'done', 'read']));
        if (!isset(self::CHANGES[$change], $given['queue'], $given['state'])) {
            return [Html::p('There is nothing to go on with.', class: 'empty')];
        }
        [$done, $read, $total] = array_map(static fn (string $name): int => max(0, (int) ($given[$name] ?? 0)), ['done', 'read', 'total']);

        return [
            Html::p(Words::number($done) . ' jobs are changed, ' . Words::number($read) . ' of ' . Words::number(max($read, $total)) . ' are read.', role: 'status'),
            Html::progress(value: (string) $read, max: (string) max($read, $total, 1), aria_label: 'Jobs that are read'),
            Parts::form($site, "/found/$change", $given, 'Go on'),
            Html::p(Html::a('Stop here', href: $site->url('/queue', array_intersect_key($given, array_flip(['queue', 'state', 'tag', 'header', 'text', 'error']))))),
        ];
    }
}
