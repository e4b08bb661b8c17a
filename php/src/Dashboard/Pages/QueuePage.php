<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard\Pages;

use DelayQueue\Dashboard\Chart;
use DelayQueue\Dashboard\Find;
use DelayQueue\Dashboard\Html;
use DelayQueue\Dashboard\LastHour;
use DelayQueue\Dashboard\Page;
use DelayQueue\Dashboard\Parts;
use DelayQueue\Dashboard\Request;
use DelayQueue\Dashboard\Site;
use DelayQueue\Dashboard\Timeline;
use DelayQueue\Dashboard\Words;
use DelayQueue\JobInfo;
use DelayQueue\QueueInterface;
use DelayQueue\State;
use DelayQueue\Stats;

/** A queue: its numbers, what falls due, and its jobs of one state. */
final class QueuePage implements Page
{
    private const ON_A_PAGE = 50;

    /** Jobs that a search reads for a page. */
    private const READ = 500;

    public function title(Request $request): string
    {
        return 'Queue ' . ($request->query('queue') ?? 'default');
    }

    public function body(Request $request, Site $site): array
    {
        $name = $request->query('queue') ?? 'default';
        $queue = $site->queue($name);
        $stats = $queue->stats();
        $state = State::tryFrom($request->query('state') ?? '') ?? self::mostTelling($stats);
        $find = Find::of($name, $state, $request->query(...), !$site->hidesPayloads);
        $here = $site->url('/queue', $find->parameters());

        return [
            self::facts($stats, $queue, $name, $site),
            self::controls($stats, $name, $site),
            Timeline::draw($queue, $request->query('range') ?? 'hour', $site, $here),
            self::history($stats),
            Html::h2('Jobs'),
            self::tabs($stats, $state, $name, $site),
            Html::form(
                Html::input(type: 'hidden', name: 'queue', value: $name),
                Parts::field('Id', 'id', '', 'order-4711', 24),
                Html::button('Open'),
                method: 'get',
                action: $site->url('/job'),
            ),
            $find->form($site),
            self::jobs($queue, $find, $request->query('after'), $site),
            $find->changes($site, $queue->count($state)),
        ];
    }

    private static function mostTelling(Stats $stats): State
    {
        return match (true) {
            $stats->buried > 0 => State::Buried,
            $stats->ready > 0 => State::Ready,
            $stats->reserved > 0 => State::Reserved,
            default => State::Delayed,
        };
    }

    private static function facts(Stats $stats, QueueInterface $queue, string $name, Site $site): Html
    {
        $times = static fn (array $times): string => $times['count'] === 0
            ? '–'
            : implode(' / ', array_map(static fn (string $key): string => Words::length($times[$key] / 1000), ['p50', 'p95', 'p99']));
        $workers = $stats->workers === null ? 'this Redis user may not look' : implode(', ', array_map(
            static fn (int $number, string $state): string => "$number $state",
            array_filter($stats->workers),
            array_keys(array_filter($stats->workers)),
        ));

        return Parts::live('numbers', Parts::facts([
            'State' => $stats->paused ? Html::span('paused', class: 'flag') : 'open',
            'Oldest ready job' => $stats->oldestReadyAge === null ? '–' : Words::length($stats->oldestReadyAge),
            'Blocked' => $stats->blocked === 0 ? null : Words::number($stats->blocked),
            'Errors' => $stats->buried === 0 ? null : Html::a('Buried jobs by error', href: $site->url('/errors', ['queue' => $name])),
            'Groups' => Html::a('Groups and their limits', href: $site->url('/groups', ['queue' => $name])),
            'Workers' => Html::a($workers ?: 'none', href: $site->url('/workers', ['queue' => $name])),
            'Late, p50 / p95 / p99 of the last hour' => $times($stats->lateness()),
            'Runs that succeeded took' => $times($stats->runTimes()['acked']),
            'Since it was made' => sprintf(
                '%s pushed, %s acknowledged, %s failed attempts, %s cancelled, %s expired',
                ...array_map(Words::number(...), [$stats->pushed, $stats->acked, $stats->failed, $stats->cancelled, $stats->expired]),
            ),
        ]));
    }

    private static function history(Stats $stats): ?Html
    {
        $hour = LastHour::of($stats);

        return $hour === null ? null : Parts::live(
            'history',
            Html::h2('The last hour'),
            Chart::columns('Acknowledged', $hour->counts('acked'), $hour->labels(), $hour->axis()),
            Chart::columns('Failed attempts', $hour->counts('failed'), $hour->labels(), $hour->axis()),
        );
    }

    private static function controls(Stats $stats, string $name, Site $site): Html
    {
        $times = ['15m' => '15 minutes', '1h' => '1 hour', '1d' => '1 day', '' => 'until it is opened'];

        return Html::div(
            $stats->paused
                ? Parts::form($site, '/queue/resume', ['queue' => $name], 'Open the queue')
                : Parts::form($site, '/queue/pause', ['queue' => $name], 'Pause', Parts::choice('For', 'for', $times, '15m')),
            $site->mayWrite() ? Html::details(
                Html::summary('Push a job'),
                Parts::form(
                    $site,
                    '/job/push',
                    ['queue' => $name],
                    'Push',
                    Html::label('Payload, JSON ', Html::textarea('{}', name: 'payload', rows: '4', cols: '60')),
                    Parts::field('Delay', 'delay', '0', '15m'),
                    Parts::field('Id', 'id', '', 'a new one', 24),
                ),
            ) : null,
            class: 'controls',
        );
    }

    private static function tabs(Stats $stats, State $state, string $name, Site $site): Html
    {
        $numbers = ['delayed' => $stats->delayed, 'ready' => $stats->ready, 'reserved' => $stats->reserved, 'buried' => $stats->buried];
        $tab = static fn (int $number, string $word): Html => Html::li(
            Html::a("$word ", Html::b(Words::number($number)), href: $site->url('/queue', ['queue' => $name, 'state' => $word]), aria_current: $word === $state->value ? 'page' : null),
        );

        return Parts::live('states', Html::ul(array_map($tab, $numbers, array_keys($numbers)), class: 'tabs'));
    }

    private static function jobs(QueueInterface $queue, Find $find, ?string $after, Site $site): Html
    {
        $state = $find->state->value;
        $search = $find->in($queue, $after)->limit(self::ON_A_PAGE)->reading(self::READ);
        $jobs = iterator_to_array($search, false);
        $now = $queue->now();

        return Parts::live(
            'jobs',
            Parts::table(
                ucfirst($state) . ' jobs, in their order',
                ['Id', $find->state === State::Buried ? 'Buried' : 'Due', 'Attempts#', 'Group', 'Payload', 'Last error'],
                array_map(static fn (JobInfo $job): array => self::row($job, $now, $find->queue, $site), $jobs),
                $find->isAll() ? "No job is $state." : 'No job was found.',
            ),
            $find->isAll() ? null : Html::p(Words::number(count($jobs)) . ' found in ' . Words::number($search->read()) . ' jobs.', class: 'quiet'),
            $search->next() === null ? null : Html::nav(
                Html::a('More', href: $site->url('/queue', $find->parameters() + ['after' => $search->next()])),
                aria_label: 'Pages of jobs',
            ),
        );
    }

    /** @return list<mixed> */
    private static function row(JobInfo $job, float $now, string $name, Site $site): array
    {
        $payload = $job->sealError === null ? $site->payload($job) : "($job->sealError)";

        return [
            Html::a(Html::stored($job->id, 60), href: $site->url('/job', ['queue' => $name, 'id' => $job->id])),
            Words::moment($job->dueAt, $now),
            $job->attempts . ($job->maxAttempts === 0 ? '' : " of $job->maxAttempts"),
            $job->group === null ? '' : Html::stored($job->group, 40),
            $payload === null ? Html::i('hidden') : Html::code(Html::stored($payload, 80)),
            Html::stored(strtok($job->lastError ?? '', "\n") ?: '', 80),
        ];
    }
}
