<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard\Pages;

use DelayQueue\Dashboard\Html;
use DelayQueue\Dashboard\Page;
use DelayQueue\Dashboard\Parts;
use DelayQueue\Dashboard\Request;
use DelayQueue\Dashboard\Site;
use DelayQueue\Dashboard\Words;

/** The findings of doctor() about Redis, errors first, and those about the queues, a few queues at a time. */
final class HealthPage implements Page
{
    private const ORDER = ['error' => 0, 'warn' => 1, 'ok' => 2];

    /** Checks of a queue. The others are of Redis, and the same for each. */
    private const OF_A_QUEUE = ['schema', 'leases', 'jobs'];

    /** Queues of a page. Each costs ten requests. */
    private const QUEUES = 12;

    public function title(Request $request): string
    {
        return 'Health';
    }

    public function body(Request $request, Site $site): array
    {
        $after = $request->query('after') ?? '';
        $all = $site->anywhere->queues();
        $further = array_values(array_filter($all, static fn (string $name): bool => strcmp($name, $after) > 0));
        $found = [];
        foreach (array_slice($further, 0, self::QUEUES) as $name) {
            foreach ($site->queue($name)->doctor() as $finding) {
                if (self::isOfAQueue($finding) && $finding['level'] !== 'ok') {
                    $found[] = $finding;
                }
            }
        }

        return [
            $after === '' ? self::table('Redis, errors first', self::ofRedis($site), 'Nothing was checked.') : null,
            Html::section(
                self::table('Queues in trouble', $found, 'None of these queues is in trouble.'),
                id: 'queues',
            ),
            $all === [] ? null : self::pager(count($all), $further, $site),
        ];
    }

    /** @return list<array{level: string, check: string, message: string}> */
    private static function ofRedis(Site $site): array
    {
        $isOfRedis = static fn (array $finding): bool => !self::isOfAQueue($finding);

        return array_values(array_filter($site->anywhere->doctor(), $isOfRedis));
    }

    /** @param array{level: string, check: string, message: string} $finding */
    private static function isOfAQueue(array $finding): bool
    {
        return in_array($finding['check'], self::OF_A_QUEUE, true);
    }

    /** @param list<array{level: string, check: string, message: string}> $found */
    private static function table(string $caption, array $found, string $empty): Html
    {
        usort($found, static fn (array $a, array $b): int => self::ORDER[$a['level']] <=> self::ORDER[$b['level']]);
        $row = static fn (array $finding): array => [
            Html::span($finding['level'], class: $finding['level'] === 'ok' ? 'flag' : 'flag bad'),
            $finding['check'],
            Html::stored($finding['message'], 1000),
        ];

        return Parts::table($caption, ['Level', 'Check', 'Finding'], array_map($row, $found), $empty);
    }

    /**
     * The script goes on by itself, and collects what is found, as it does in a look through all queues.
     *
     * @param list<string> $further names behind those of the page before
     */
    private static function pager(int $all, array $further, Site $site): Html
    {
        $left = max(0, count($further) - self::QUEUES);
        $next = $left === 0 ? null : $site->url('/health', ['after' => $further[self::QUEUES - 1]]);

        return Html::nav(
            Words::number($all - $left) . ' of ' . Words::number($all) . ' queues were looked at. ',
            $next === null ? null : Html::a('Look further', href: $next, rel: 'next'),
            id: 'look',
            aria_label: 'Pages of queues',
        );
    }
}
