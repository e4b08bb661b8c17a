<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue\Internal\Verbatim;
use DelayQueue\JobInfo;
use DelayQueue\WaitReason;
use DelayQueue\Worker\Progress;

/** A job as list and show print it. */
final class JobView
{
    /** @return array<string, mixed> for JSON; times in Unix seconds */
    public static function toArray(JobInfo $job): array
    {
        // An object: an array without members, or with numbers for names, would be a list in JSON.
        $replaced = ['state' => $job->state->value, 'waitsFor' => $job->waitsFor?->value];
        $replaced += ['backoff' => (string) $job->backoff, 'headers' => (object) $job->headers];
        if ($job->payload !== null) {
            $replaced['payload'] = new Verbatim($job->body);
        }

        $facts = $replaced + get_object_vars($job) + ['place' => $job->place()];
        unset($facts['extras']);

        return $facts + ($job->extras === null ? [] : ['extrasBase64' => base64_encode($job->extras)]);
    }

    /** @return list<array{string, string}> for people: label and text */
    public static function toText(JobInfo $job): array
    {
        $texts = array_filter([
            'id' => $job->id,
            'queue' => $job->queue,
            'group' => $job->group ?? '',
            'state' => $job->state->value,
            'waits for' => self::wait($job),
            'due' => Text::momentAndDistance($job->dueAt),
            'created' => Text::momentAndDistance($job->createdAt),
            'expires' => $job->expiresAt === null ? '' : Text::momentAndDistance($job->expiresAt),
            'tried until' => $job->retryUntil === null ? '' : Text::momentAndDistance($job->retryUntil),
            'lease until' => $job->leaseUntil === null ? '' : Text::momentAndDistance($job->leaseUntil),
            'attempts' => $job->attempts . ($job->maxAttempts === 0 ? '' : " of $job->maxAttempts"),
            'priority' => (string) $job->priority,
            'ttr' => Text::length($job->ttr),
            'time limit' => $job->timeout > 0 ? Text::length($job->timeout) : '',
            'backoff' => (string) $job->backoff,
            'progress' => self::progress($job),
            'history' => self::history($job),
            'last error' => $job->lastError ?? '',
            'sealed' => $job->seal === null ? '' : "with key {$job->seal['key']} ({$job->seal['alg']})",
            'not opened' => $job->sealError ?? '',
        ], static fn (string $text): bool => $text !== '');
        $lines = [];
        foreach ($texts as $label => $text) {
            // The lines that an exception has; any other line feed is shown as one.
            foreach (preg_split('/\n(?=in |caused by |#\d)/', $text) ?: [] as $number => $line) {
                $lines[] = [$number === 0 ? $label : '', $line];
            }
        }
        foreach (array_diff_key($job->headers, [Progress::HEADER => true]) as $name => $value) {
            $lines[] = ['header', "$name: $value"];
        }

        return [...$lines, ['payload', $job->body]];
    }

    /** Empty where it waits for nothing, or nobody has looked. */
    private static function wait(JobInfo $job): string
    {
        $until = $job->earliestAt === null ? '' : ', until ' . Text::momentAndDistance($job->earliestAt);

        return match ($job->waitsFor) {
            null => '',
            WaitReason::Delay => 'its time',
            WaitReason::QueuePaused => 'its queue, which is closed' . ($until ?: ' until resume'),
            WaitReason::GroupPaused => 'its group, which is closed until resume',
            WaitReason::GroupClosed => "its group, which is closed$until",
            WaitReason::GroupOrder => "job $job->heldUpBy, which its ordered group waits for$until",
            WaitReason::GroupConcurrency => 'another job of its group to end: as many run as may',
            WaitReason::GroupRate => "the rate of its group$until",
            WaitReason::QueueLimit => "the limits of its queue$until",
            WaitReason::Line => 'its turn',
            WaitReason::Nothing => 'a worker, which may take it now',
        } . ($job->ahead > 0 ? "; $job->ahead before it" : '');
    }

    private static function progress(JobInfo $job): string
    {
        $told = Progress::in($job);

        return $told === null ? '' : trim(round(100 * $told['share']) . " % {$told['text']}") . ', ' . Text::momentAndDistance($told['at']);
    }

    private static function history(JobInfo $job): string
    {
        $counts = array_filter([
            'leases expired' => $job->timeouts, 'releases' => $job->releases, 'buries' => $job->buries, 'kicks' => $job->kicks,
        ]);
        $count = static fn (string $what, int $count): string => "$what: $count";

        return implode(', ', array_map($count, array_keys($counts), $counts));
    }
}
