<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard\Pages;

use DelayQueue\Dashboard\Html;
use DelayQueue\Dashboard\JsonView;
use DelayQueue\Dashboard\Page;
use DelayQueue\Dashboard\Parts;
use DelayQueue\Dashboard\Request;
use DelayQueue\Dashboard\Site;
use DelayQueue\Dashboard\WaitWords;
use DelayQueue\Dashboard\Words;
use DelayQueue\JobInfo;
use DelayQueue\State;
use DelayQueue\WaitReason;

/** One job: all that is known of it, and what can be done with it. */
final class JobPage implements Page
{
    private const LONGEST_PAYLOAD = 20_000;

    public function title(Request $request): string
    {
        return 'Job ' . ($request->query('id') ?? '');
    }

    public function body(Request $request, Site $site): array
    {
        [$name, $id] = [$request->query('queue') ?? 'default', $request->query('id') ?? ''];
        $queue = $site->queue($name);
        $job = $id === '' ? null : $queue->peek($id);
        $back = Html::p(Html::a('Queue ', Html::stored($name), href: $site->url('/queue', ['queue' => $name])));
        $now = $queue->now();
        $life = JournalPage::life($name, $id, $now, $site);
        if ($job === null) {
            return [$back, Html::p('There is no such job: it is done, or it was cancelled.', class: 'told'), $life];
        }

        return [
            $back,
            Parts::live('job', Parts::facts(self::facts($job, $now, $site) + self::holder($job, $site)), self::error($job)),
            Html::h2('Payload'),
            self::payload($job, $site),
            $job->headers === [] ? null : [Html::h2('Headers'), Parts::facts(array_map(static fn (string $value): Html => Html::stored($value, 1000), $job->headers))],
            self::controls($job, $name, $site),
            $life,
        ];
    }

    /** @return array<string, mixed> */
    private static function facts(JobInfo $job, float $now, Site $site): array
    {
        $moment = static fn (?float $seconds): ?Html => $seconds === null ? null : Words::moment($seconds, $now);

        return [
            'State' => self::state($job),
            'Waits for' => WaitWords::of($job, $now, $site),
            $job->state === State::Buried ? 'Buried' : 'Due' => $moment($job->dueAt),
            'Its lease ends' => $moment($job->leaseUntil),
            'Created' => $moment($job->createdAt),
            'Group' => $job->group === null ? null : Html::stored($job->group),
            'Attempts' => $job->attempts . ($job->maxAttempts === 0 ? '' : " of $job->maxAttempts"),
            'Came back' => self::past($job),
            'Priority' => (string) $job->priority,
            'TTR' => Words::length($job->ttr),
            'Time limit' => $job->timeout > 0 ? Words::length($job->timeout) : null,
            'Backoff' => (string) $job->backoff,
            'Fell due first' => $moment($job->firstDueAt),
            'Expires' => $moment($job->expiresAt),
            'Tried until' => $moment($job->retryUntil),
            'Sealed' => $job->seal === null ? null : "with key {$job->seal['key']} ({$job->seal['alg']})",
        ];
    }

    /** A job that is due, and that no worker may take now, is not called ready. */
    private static function state(JobInfo $job): Html
    {
        $isHeldUp = $job->state === State::Ready && !in_array($job->waitsFor, [null, WaitReason::Line, WaitReason::Nothing], true);

        return Html::span($isHeldUp ? 'waiting' : $job->state->value, class: $job->state === State::Buried ? 'flag bad' : 'flag');
    }

    /** @return array<string, mixed> the worker that runs it, once it has run for a second */
    private static function holder(JobInfo $job, Site $site): array
    {
        foreach ($job->state === State::Reserved ? $site->anywhere->workers(queue: $job->queue) : [] as $worker) {
            if ($worker['job'] !== null && $worker['job']['id'] === $job->id && $worker['job']['queue'] === $job->queue) {
                return ['Held by' => Html::stored("{$worker['host']}:{$worker['pid']}")];
            }
        }

        return [];
    }

    private static function past(JobInfo $job): ?string
    {
        $counts = array_filter(['leases that expired' => $job->timeouts, 'releases' => $job->releases, 'buries' => $job->buries, 'kicks' => $job->kicks]);

        return $counts === [] ? null : implode(', ', array_map(static fn (int $number, string $what): string => "$number $what", $counts, array_keys($counts)));
    }

    private static function error(JobInfo $job): ?Html
    {
        return ($job->lastError ?? '') === '' ? null : Html::div(Html::h2('Last error'), Html::pre(Html::stored($job->lastError, 4000), tabindex: '0'));
    }

    private static function payload(JobInfo $job, Site $site): Html
    {
        if ($job->sealError !== null) {
            return Html::p('It is sealed: ', Html::stored($job->sealError));
        }
        $text = $site->payload($job);
        if ($text === null) {
            return Html::p('Payloads are hidden here.');
        }
        $view = JsonView::of($text);

        return Html::div(
            $view,
            Html::details(
                Html::summary('As it is stored, ' . Words::number(strlen($text)) . ' bytes'),
                Html::pre(Html::stored($text, self::LONGEST_PAYLOAD), tabindex: '0'),
                open: $view === null,
            ),
        );
    }

    private static function controls(JobInfo $job, string $name, Site $site): ?Html
    {
        if (!$site->mayWrite()) {
            return null;
        }
        $hidden = ['queue' => $name, 'id' => $job->id];
        $isHeld = $job->state === State::Reserved;

        return Html::div(
            Html::h2('Change'),
            $isHeld || $job->state === State::Ready ? null : Parts::form($site, '/job/kick', $hidden, $job->state === State::Buried ? 'Try it again' : 'Run it now'),
            $isHeld ? null : Parts::form($site, '/job/reschedule', $hidden, 'Move it', Parts::field('Due in', 'delay', '15m')),
            Parts::danger($site, '/job/cancel', $hidden, 'Cancel it', $isHeld ? 'Cancel it, though a worker holds it' : 'Cancel this job'),
            $job->sealError === null ? Parts::form($site, '/job/copy', $hidden, 'Push a copy') : null,
            self::isEditable($job, $site) ? Html::details(
                Html::summary('Edit the payload'),
                Parts::form($site, '/job/update', $hidden, 'Store it', Html::label('JSON ', Html::textarea($job->body, name: 'payload', rows: '8', cols: '80'))),
            ) : null,
            class: 'controls',
        );
    }

    /** A form gives back what it was given only if that is text; and nobody edits what he does not see. */
    private static function isEditable(JobInfo $job, Site $site): bool
    {
        return $job->state !== State::Reserved && $job->sealError === null && $site->payload($job) === $job->body && strlen($job->body) <= self::LONGEST_PAYLOAD
            && preg_match('//u', $job->body) === 1;
    }
}
