<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard\Pages;

use DelayQueue\Dashboard\Html;
use DelayQueue\Dashboard\Page;
use DelayQueue\Dashboard\Parts;
use DelayQueue\Dashboard\Request;
use DelayQueue\Dashboard\Site;

/** The findings of doctor(), errors first. */
final class HealthPage implements Page
{
    private const ORDER = ['error' => 0, 'warn' => 1, 'ok' => 2];

    public function title(Request $request): string
    {
        return 'Health of Redis';
    }

    public function body(Request $request, Site $site): array
    {
        $found = $site->anywhere->doctor();
        usort($found, static fn (array $a, array $b): int => self::ORDER[$a['level']] <=> self::ORDER[$b['level']]);
        $rows = array_map(static fn (array $finding): array => [
            Html::span($finding['level'], class: $finding['level'] === 'ok' ? 'flag' : 'flag bad'),
            $finding['check'],
            Html::stored($finding['message'], 1000),
        ], $found);

        return [Parts::table('Checks, errors first', ['Level', 'Check', 'Finding'], $rows, 'Nothing was checked.')];
    }
}
