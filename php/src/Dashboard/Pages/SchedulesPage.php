<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard\Pages;

use DateTimeImmutable;
use DelayQueue\Dashboard\Html;
use DelayQueue\Dashboard\Page;
use DelayQueue\Dashboard\Parts;
use DelayQueue\Dashboard\Request;
use DelayQueue\Dashboard\Site;
use DelayQueue\Dashboard\Words;
use DelayQueue\Schedule\Schedule;
use DelayQueue\Schedule\Schedules;
use DelayQueue\ServerException;

/** Schedules, those that come next first. */
final class SchedulesPage implements Page
{
    public const QUEUE = 'schedules';
    private const MOST = 50;

    public function title(Request $request): string
    {
        return 'Schedules';
    }

    public function body(Request $request, Site $site): array
    {
        $queue = $request->query('queue') ?? self::QUEUE;
        $name = $request->query('name');
        $schedules = new Schedules($site->queue($queue));
        $shown = [];
        foreach ($name === null ? $schedules->all() : array_filter([$schedules->get($name)]) as $schedule) {
            $shown[] = $schedule;
            if (count($shown) === self::MOST) {
                break;
            }
        }
        $now = $site->anywhere->now();
        $idle = $shown === [] || self::hasRunner($queue, $site) ? null : Html::p(
            Html::span('no runner', class: 'flag bad'),
            ' No process runs these schedules now: start one with ',
            Html::code('delayqueue work --schedules'),
            '.',
        );

        return [
            Html::form(
                Html::input(type: 'hidden', name: 'queue', value: $queue),
                Parts::field('Name', 'name', $name ?? ''),
                Html::button('Show'),
                method: 'get',
                role: 'search',
            ),
            Parts::live(
                'schedules',
                $idle,
                Parts::table(
                    'Schedules, the next one first',
                    ['Name', 'When', 'Next', 'After that', 'Queue', 'Error', 'Change'],
                    array_map(static fn (Schedule $schedule): array => self::row($schedule, $queue, $now, $site), $shown),
                    $name === null ? 'There are no schedules.' : 'There is no schedule of this name.',
                ),
                count($shown) < self::MOST ? null : Html::p('Only the next ' . self::MOST . ' are shown. Others are found by name.'),
            ),
        ];
    }

    private static function hasRunner(string $queue, Site $site): bool
    {
        try {
            return $site->anywhere->workers(queue: $queue) !== [];
        } catch (ServerException) {
            return true; // this user of Redis may not look
        }
    }

    /** @return list<mixed> */
    private static function row(Schedule $schedule, string $queue, float $now, Site $site): array
    {
        $hidden = ['queue' => $queue, 'name' => $schedule->name];
        $moments = $schedule->next(2);
        $late = $schedule->isLate($now) ? [' ', Html::span('late', class: 'flag bad')] : null;
        $moment = static fn (?DateTimeImmutable $moment): Html|string => $moment === null ? '–' : Words::moment((float) $moment->format('U.u'), $now);

        return [
            Html::stored($schedule->name, 60),
            Html::stored((string) $schedule->when, 80),
            $schedule->paused
                ? Html::span($schedule->pausedUntil === null ? 'paused' : ['paused, ends ', $moment($schedule->pausedUntil)], class: 'flag')
                : [$moment($moments[0] ?? null), $late],
            $schedule->paused ? '' : $moment($moments[1] ?? null),
            Html::a(Html::stored($schedule->queue, 60), href: $site->url('/queue', ['queue' => $schedule->queue])),
            Html::stored(strtok($schedule->lastError ?? '', "\n") ?: '', 80),
            [
                Parts::form($site, '/schedule/run', $hidden, 'Run now'),
                $schedule->paused ? Parts::form($site, '/schedule/resume', $hidden, 'Resume') : Parts::form($site, '/schedule/pause', $hidden, 'Pause'),
                Parts::danger($site, '/schedule/remove', $hidden, 'Remove', 'Remove this schedule'),
            ],
        ];
    }
}
