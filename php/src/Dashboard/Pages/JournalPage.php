<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard\Pages;

use DelayQueue\Dashboard\Html;
use DelayQueue\Dashboard\Page;
use DelayQueue\Dashboard\Parts;
use DelayQueue\Dashboard\Request;
use DelayQueue\Dashboard\Site;
use DelayQueue\Dashboard\Words;
use DelayQueue\Database\JobRecord;

/** Jobs as the journal knows them, also those that have ended. */
final class JournalPage implements Page
{
    private const MOST = 100;

    public function title(Request $request): string
    {
        return 'Journal';
    }

    public function body(Request $request, Site $site): array
    {
        if ($site->journal === null) {
            return [Html::p('This dashboard was given no journal.', class: 'empty')];
        }
        [$queue, $state, $contains] = [$request->query('queue'), $request->query('state'), $request->query('contains')];
        $state = in_array($state, JobRecord::STATES, true) ? $state : null;
        $jobs = $site->journal->search($queue, $state, contains: $site->hidesPayloads ? null : $contains, limit: self::MOST);
        $now = $site->anywhere->now();

        return [
            Html::form(
                Parts::field('Queue', 'queue', $queue ?? ''),
                Parts::choice('State', 'state', ['' => 'any'] + array_combine(JobRecord::STATES, JobRecord::STATES), $state ?? ''),
                $site->hidesPayloads ? null : Parts::field('Error or payload has', 'contains', $contains ?? ''),
                Html::button('Search'),
                method: 'get',
                role: 'search',
            ),
            Parts::live(
                'journal',
                Parts::table(
                    'Jobs of which something was heard last',
                    ['Id', 'Queue', 'State', 'Attempts#', 'Last run', 'Error'],
                    array_map(static fn (JobRecord $job): array => self::row($job, $now, $site), $jobs),
                    'No job is like that.',
                ),
                count($jobs) < self::MOST ? null : Html::p('The last ' . self::MOST . ' are shown. Search for fewer.'),
            ),
        ];
    }

    /** The life of a job, as the journal knows it: its runs, the newest first. */
    public static function life(string $queue, string $id, float $now, Site $site): ?Html
    {
        $job = $site->journal?->find($id, $queue)[0] ?? null;
        if ($job === null) {
            return null;
        }
        $row = static fn (array $run): array => [
            (string) $run['attempt'],
            Words::moment($run['began'], $now),
            Words::length($run['duration']),
            Html::span($run['outcome'], class: in_array($run['outcome'], ['done', 'released'], true) ? 'flag' : 'flag bad'),
            Html::stored($run['worker'], 60),
            Html::stored($run['error'] ?? '', 200),
        ];

        return Parts::live(
            'life',
            Html::h2('Its life, as the journal knows it'),
            Parts::facts([
                'State' => $job->state,
                'Pushed' => Words::moment($job->createdAt, $now),
                'Ended' => $job->endedAt === null ? null : Words::moment($job->endedAt, $now),
            ]),
            Parts::table('Runs, the newest first', ['Attempt#', 'Began', 'Took', 'Outcome', 'Worker', 'Error'], array_map($row, $job->runs), 'It has not run yet.'),
        );
    }

    /** @return list<mixed> */
    private static function row(JobRecord $job, float $now, Site $site): array
    {
        return [
            Html::a(Html::stored($job->id, 60), href: $site->url('/job', ['queue' => $job->queue, 'id' => $job->id])),
            Html::stored($job->queue, 60),
            Html::span($job->state, class: in_array($job->state, ['failed', 'timedOut', 'buried'], true) ? 'flag bad' : 'flag'),
            (string) $job->attempts,
            $job->beganAt === null ? '' : Words::moment($job->beganAt, $now),
            Html::stored(strtok($job->error ?? '', "\n") ?: '', 80),
        ];
    }
}
