<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard;

use DelayQueue\JobInfo;
use DelayQueue\WaitReason;

/** For what a job waits, for people. */
final class WaitWords
{
    /**
     * @param JobInfo $job of peek()
     *
     * @return Html|null null: it does not wait, or nobody has looked for what
     */
    public static function of(JobInfo $job, float $now, Site $site): ?Html
    {
        $link = static fn (?string $name, string $path, string $of): ?Html => $name === null
            ? null
            : Html::a(Html::stored($name), href: $site->url($path, ['queue' => $job->queue, $of => $name]));
        $group = $link($job->group, '/groups', 'group');
        $reason = match ($job->waitsFor) {
            null => null,
            WaitReason::Delay => ['its time'],
            WaitReason::QueuePaused => ['the queue, which is paused'],
            WaitReason::GroupPaused => ['its group ', $group, ', which is paused'],
            WaitReason::GroupClosed => ['its group ', $group, ', which is closed for some time'],
            WaitReason::GroupOrder => ['the job in front of it in its ordered group ', $group, ', ', $link($job->heldUpBy, '/job', 'id')],
            WaitReason::GroupConcurrency => ['a place in its group ', $group, ', of which as many jobs run as may'],
            WaitReason::GroupRate => ['its group ', $group, ', of which as many jobs have started as may for now'],
            WaitReason::QueueLimit => ['the limit of the queue'],
            WaitReason::Line => ['its turn'],
            WaitReason::Nothing => ['a worker: it may run now'],
        };
        if ($reason === null) {
            return null;
        }

        $ahead = match ($job->ahead) {
            null, 0 => null,
            1 => '; 1 comes before it',
            default => '; ' . Words::number($job->ahead) . ' come before it',
        };
        $isLater = $job->earliestAt !== null && $job->earliestAt > $now;

        return Html::span($reason, $ahead, $isLater ? ['; earliest ', Words::moment($job->earliestAt, $now)] : null);
    }
}
