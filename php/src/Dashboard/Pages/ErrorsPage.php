<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard\Pages;

use DelayQueue\Dashboard\Find;
use DelayQueue\Dashboard\Html;
use DelayQueue\Dashboard\Page;
use DelayQueue\Dashboard\Parts;
use DelayQueue\Dashboard\Request;
use DelayQueue\Dashboard\Site;
use DelayQueue\Dashboard\Words;
use DelayQueue\JobInfo;
use DelayQueue\Search\ErrorKind;
use DelayQueue\State;

/** Buried jobs by the kinds of their errors, the most frequent first. */
final class ErrorsPage implements Page
{
    private const READ = 500;
    private const SHOWN = 50;

    public function title(Request $request): string
    {
        return 'Errors of queue ' . ($request->query('queue') ?? 'default');
    }

    public function body(Request $request, Site $site): array
    {
        $name = $request->query('queue') ?? 'default';
        $after = $request->query('after');
        $search = Find::of($name, State::Buried, static fn (): ?string => null, false)->in($site->queue($name), $after)->reading(self::READ);
        $kinds = [];
        foreach ($search as $job) {
            $kind = ErrorKind::of($job->lastError ?? '');
            $kinds[$kind] ??= ['number' => 0, 'first' => $job->dueAt, 'last' => $job->dueAt, 'job' => $job];
            ++$kinds[$kind]['number'];
            $kinds[$kind]['first'] = min($kinds[$kind]['first'], $job->dueAt);
            $kinds[$kind]['last'] = max($kinds[$kind]['last'], $job->dueAt);
        }
        uasort($kinds, static fn (array $a, array $b): int => $b['number'] <=> $a['number']);
        $now = $site->anywhere->now();
        $shown = array_slice($kinds, 0, self::SHOWN, true);

        return [
            Html::p(Html::a('Queue ', Html::stored($name), href: $site->url('/queue', ['queue' => $name]))),
            Parts::live(
                'errors',
                Parts::table(
                    'Buried jobs by error',
                    ['Jobs#', 'Error', 'First', 'Last', 'For example'],
                    array_map(static fn (array $kind, int|string $text): array => self::row($kind, (string) $text, $name, $now, $site), $shown, array_keys($shown)),
                    'No job is buried.',
                ),
            ),
            $after === null && $search->next() === null ? null : Html::nav(
                Words::number($search->read()) . ' buried jobs were read' . ($after === null ? '. ' : ', behind those of the page before. '),
                $search->next() === null ? null : Html::a(
                    'Read further',
                    href: $site->url('/errors', ['queue' => $name, 'after' => $search->next()]),
                ),
                aria_label: 'Pages of errors',
            ),
        ];
    }

    /**
     * @param array{number: int, first: float, last: float, job: JobInfo} $kind
     *
     * @return list<mixed>
     */
    private static function row(array $kind, string $text, string $name, float $now, Site $site): array
    {
        $job = $kind['job'];

        return [
            Words::number($kind['number']),
            $text === '' ? 'none' : Html::a(
                Html::stored($text, 200),
                href: $site->url('/queue', ['queue' => $name, 'state' => 'buried', 'kind' => $text]),
            ),
            Words::moment($kind['first'], $now),
            Words::moment($kind['last'], $now),
            Html::a(Html::stored($job->id, 60), href: $site->url('/job', ['queue' => $name, 'id' => $job->id])),
        ];
    }
}
