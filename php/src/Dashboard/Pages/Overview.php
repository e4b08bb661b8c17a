<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard\Pages;

use DelayQueue\Dashboard\Chart;
use DelayQueue\Dashboard\Html;
use DelayQueue\Dashboard\LastHour;
use DelayQueue\Dashboard\Page;
use DelayQueue\Dashboard\Parts;
use DelayQueue\Dashboard\Request;
use DelayQueue\Dashboard\Site;
use DelayQueue\Dashboard\Words;
use DelayQueue\Stats;

/** All queues, 50 on a page, those with something wrong first; or a look through all of them for those that need attention. */
final class Overview implements Page
{
    private const ON_A_PAGE = 50;

    /** Seconds that a ready job may wait before its queue needs attention. */
    private const PATIENCE = 60;

    public function title(Request $request): string
    {
        return 'Queues';
    }

    public function body(Request $request, Site $site): array
    {
        $pattern = $request->query('name') ?? '';
        $isLook = $request->query('look') !== null;
        $names = $site->anywhere->queues();
        $found = $pattern === '' ? $names : array_values(array_filter($names, static fn (string $name): bool => self::matches($pattern, $name)));
        // By its name: where a queue has gone meanwhile, no other one is passed over.
        $first = $request->query('from') ?? '';
        $before = array_filter($found, static fn (string $name): bool => strcmp($name, $first) < 0);
        $from = min(count($before), max(0, count($found) - 1));
        $shown = array_slice($found, $from, self::ON_A_PAGE);
        $stats = array_combine($shown, array_map(static fn (string $name): Stats => $site->queue($name)->stats(), $shown));
        $isLook && $stats = array_filter($stats, self::needsAttention(...));
        uasort($stats, static fn (Stats $a, Stats $b): int => self::trouble($b) <=> self::trouble($a));
        $now = $site->anywhere->now();
        $rows = array_map(static fn (string|int $name, Stats $numbers): array => self::row((string) $name, $numbers, $now, $site), array_keys($stats), $stats);

        return [
            Html::form(
                Parts::field('Name', 'name', $pattern, 'mail-*'),
                Html::button('Show'),
                method: 'get',
                role: 'search',
            ),
            $isLook ? Html::section(self::table('Queues that need attention', $rows, 'None of these needs attention.'), id: 'queues') : Parts::live(
                'queues',
                self::table('Queues, with trouble first', $rows, $names === [] ? 'Nothing was pushed under this prefix yet.' : 'No queue has such a name.'),
            ),
            self::pager($from, $found, $pattern, $isLook, $site),
        ];
    }

    /** @param list<list<mixed>> $rows */
    private static function table(string $caption, array $rows, string $empty): Html
    {
        $heads = ['Queue', 'State', 'Delayed#', 'Next', 'Ready#', 'Oldest ready', 'Reserved#', 'Buried#', 'Late p50#', 'p99#', 'Last hour', 'Workers#'];

        return Parts::table($caption, $heads, $rows, $empty);
    }

    /** @return list<mixed> */
    private static function row(string $name, Stats $stats, float $now, Site $site): array
    {
        $late = $stats->lateness();
        $ms = static fn (float $ms): string => $late['count'] === 0 ? '–' : Words::length($ms / 1000);
        $state = static fn (int $number, string $state): Html => Html::a(
            Words::number($number),
            href: $site->url('/queue', ['queue' => $name, 'state' => $state]),
            class: $state === 'buried' && $number > 0 ? 'bad' : null,
            aria_label: Words::number($number) . " $state",
        );

        return [
            Html::a(Html::stored($name), href: $site->url('/queue', ['queue' => $name])),
            self::flags($stats),
            $state($stats->delayed, 'delayed'),
            $stats->nextDueAt === null ? '–' : Words::moment($stats->nextDueAt, $now),
            $state($stats->ready, 'ready'),
            $stats->oldestReadyAge === null ? '–' : Words::length($stats->oldestReadyAge),
            $state($stats->reserved, 'reserved'),
            $state($stats->buried, 'buried'),
            $ms($late['p50']),
            $ms($late['p99']),
            self::hour($stats),
            $stats->workers === null ? '?' : Words::number(array_sum($stats->workers)),
        ];
    }

    /** Jobs that were done, and attempts that failed. */
    private static function hour(Stats $stats): Html|string
    {
        $hour = LastHour::of($stats);
        if ($hour === null) {
            return '–';
        }
        [$done, $failed] = [$hour->counts('acked'), $hour->counts('failed')];
        $title = Words::number((int) array_sum($done)) . ' acknowledged, ' . Words::number((int) array_sum($failed)) . ' failed in the last hour';

        return Chart::small($title, $done, $failed);
    }

    /** @return list<Html> */
    private static function flags(Stats $stats): array
    {
        return array_values(array_filter([
            $stats->paused ? Html::span('paused', class: 'flag') : null,
            self::isWithoutWorkers($stats) ? Html::span('no worker', class: 'flag bad') : null,
            $stats->blocked > 0 ? Html::span(Words::number($stats->blocked) . ' blocked', class: 'flag') : null,
        ]));
    }

    /** How much is wrong with a queue, to compare queues by. */
    private static function trouble(Stats $stats): float
    {
        return (self::isWithoutWorkers($stats) ? 1e12 : 0) + ($stats->buried > 0 ? 1e9 : 0) + ($stats->paused ? 0 : min(1e8, $stats->oldestReadyAge ?? 0));
    }

    private static function needsAttention(Stats $stats): bool
    {
        return self::isWithoutWorkers($stats) || $stats->buried > 0 || (!$stats->paused && ($stats->oldestReadyAge ?? 0) > self::PATIENCE);
    }

    private static function isWithoutWorkers(Stats $stats): bool
    {
        return $stats->workers !== null && array_sum($stats->workers) === 0 && $stats->oldestReadyAge !== null && !$stats->paused;
    }

    private static function matches(string $pattern, string $name): bool
    {
        return strpbrk($pattern, '*?') === false ? str_contains($name, $pattern) : fnmatch($pattern, $name, FNM_NOESCAPE);
    }

    /** @param list<string> $names */
    private static function pager(int $from, array $names, string $pattern, bool $isLook, Site $site): ?Html
    {
        $all = count($names);
        if ($all <= self::ON_A_PAGE && !$isLook) {
            return null;
        }
        $until = min($all, $from + self::ON_A_PAGE);
        $link = static fn (string $text, int $to, bool $look, ?string $rel = null): ?Html => $to < 0 || $to >= $all
            ? null
            : Html::a($text, href: $site->url('/', [
                'name' => $pattern ?: null,
                'look' => $look ? '1' : null,
                'from' => $to === 0 ? null : $names[$to],
            ]), rel: $rel);
        if ($isLook) {
            // The script goes on by itself: 50 queues a step, so that Redis has time for others.
            return Html::nav(
                Words::number($until) . ' of ' . Words::number($all) . ' queues were looked at. ',
                $link('Look further', $from + self::ON_A_PAGE, true, 'next') ?? Html::a('All queues', href: $site->url('/')),
                id: 'look',
                aria_label: 'Pages of queues',
            );
        }

        return Html::nav(
            $link('Before', $from > 0 ? max(0, $from - self::ON_A_PAGE) : -1, false),
            ' ' . Words::number($from + 1) . '–' . Words::number($until) . ' of ' . Words::number($all) . ' by name, trouble first on this page ',
            $link('Next', $from + self::ON_A_PAGE, false),
            ' ',
            $link('Look through all for trouble', 0, true),
            aria_label: 'Pages of queues',
        );
    }
}
