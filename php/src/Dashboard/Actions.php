<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard;

use DelayQueue;
use DelayQueue\Internal\OwnHeaders;
use DelayQueue\Internal\StoredJob;
use DelayQueue\Schedule\Schedules;
use DelayQueue\WorkerOrder;
use JsonException;
use ValueError;

/** The changes that pages offer, by their addresses. */
final class Actions
{
    public function __construct(private readonly Site $site)
    {
    }

    /** @return Done|Step|null null: there is no such action */
    public function run(string $path, Request $request): Done|Step|null
    {
        return match ($path) {
            '/queue/pause' => $this->pause($request),
            '/queue/resume' => $this->resume($request),
            '/job/push' => $this->push($request),
            '/job/copy' => $this->copy($request),
            '/job/kick' => $this->onJob($request, Told::Kicked, static fn (DelayQueue $queue, string $id): bool => $queue->kickJob($id)),
            '/job/cancel' => $this->onJob($request, Told::Cancelled, $this->cancel(...)),
            '/job/reschedule' => $this->onJob(
                $request,
                Told::Rescheduled,
                static fn (DelayQueue $queue, string $id): bool => $queue->reschedule($id, $request->field('delay') ?? '0'),
            ),
            '/job/update' => $this->onJob($request, Told::Updated, static fn (DelayQueue $queue, string $id): bool => self::raw($queue)->update($id, self::json($request))),
            '/group/pause' => $this->onGroup($request, Told::GroupClosed, static fn (DelayQueue $queue, string $group) => $queue->pause($request->field('for'), $group)),
            '/group/resume' => $this->onGroup($request, Told::GroupOpened, static fn (DelayQueue $queue, string $group) => $queue->resume($group)),
            '/group/cancel' => (new ManyJobs($this->site, $request))->ofGroup(),
            '/schedule/run' => $this->onSchedule($request, Told::ScheduleRun, static fn (Schedules $schedules, string $name): bool => $schedules->runNow($name) !== null),
            '/schedule/pause' => $this->onSchedule($request, Told::SchedulePaused, static fn (Schedules $schedules, string $name): bool => $schedules->pause($name)),
            '/schedule/resume' => $this->onSchedule($request, Told::ScheduleResumed, static fn (Schedules $schedules, string $name): bool => $schedules->resume($name)),
            '/schedule/remove' => $this->onSchedule($request, Told::ScheduleRemoved, static fn (Schedules $schedules, string $name): bool => $schedules->remove($name)),
            '/worker' => $this->order($request),
            default => str_starts_with($path, '/found/')
                ? (new ManyJobs($this->site, $request))->found(substr($path, 7))
                : null,
        };
    }

    private function pause(Request $request): Done
    {
        $name = self::needed($request, 'queue');
        $this->site->queue($name)->pause($request->field('for'));

        return new Done(Told::Paused, '/queue', ['queue' => $name]);
    }

    private function resume(Request $request): Done
    {
        $name = self::needed($request, 'queue');
        $this->site->queue($name)->resume();

        return new Done(Told::Resumed, '/queue', ['queue' => $name]);
    }

    private function push(Request $request): Done
    {
        $name = self::needed($request, 'queue');
        $id = self::raw($this->site->queue($name))->push(self::json($request), delay: $request->field('delay') ?? '0', id: $request->field('id'));

        return new Done(Told::Pushed, '/job', ['queue' => $name, 'id' => $id]);
    }

    private function cancel(DelayQueue $queue, string $id): bool
    {
        $job = $queue->peek($id);

        return $job !== null && $this->site->cancel($queue, $job) > 0;
    }

    /**
     * A job with the same bytes and options, due now, under a new id. It belongs to no chain or batch; a header names
     * the job that it is a copy of.
     */
    private function copy(Request $request): Done
    {
        $name = self::needed($request, 'queue');
        $queue = $this->site->queue($name);
        $job = $queue->peek(self::needed($request, 'id'));
        if ($job === null || $job->sealError !== null) {
            return new Done(Told::Unchanged, '/queue', ['queue' => $name]);
        }
        [$id] = self::raw($queue)->pushMany([[
            'id' => null,
            'headers' => [OwnHeaders::COPY => $job->id] + array_diff_key($job->headers, OwnHeaders::of($job->headers)),
            'group' => $job->group,
            'extras' => null, // its moments may be over
        ] + StoredJob::item($job)]);

        return new Done(Told::Pushed, '/job', ['queue' => $name, 'id' => $id]);
    }

    /** @param callable(DelayQueue, string): bool $change */
    private function onJob(Request $request, Told $told, callable $change): Done
    {
        [$name, $id] = [self::needed($request, 'queue'), self::needed($request, 'id')];

        return new Done($change($this->site->queue($name), $id) ? $told : Told::Unchanged, '/job', ['queue' => $name, 'id' => $id]);
    }

    /** @param callable(DelayQueue, string): mixed $change */
    private function onGroup(Request $request, Told $told, callable $change): Done
    {
        [$name, $group] = [self::needed($request, 'queue'), self::needed($request, 'group')];
        $change($this->site->queue($name), $group);

        return new Done($told, '/groups', ['queue' => $name, 'group' => $group]);
    }

    /** @param callable(Schedules, string): bool $change */
    private function onSchedule(Request $request, Told $told, callable $change): Done
    {
        [$queue, $name] = [self::needed($request, 'queue'), self::needed($request, 'name')];

        return new Done($change(new Schedules($this->site->queue($queue)), $name) ? $told : Told::NoSchedule, '/schedules', ['queue' => $queue, 'name' => $name]);
    }

    private function order(Request $request): Done
    {
        $order = WorkerOrder::tryFrom(self::needed($request, 'order')) ?? throw new ValueError('There is no such order');
        [$host, $pid] = [self::needed($request, 'host'), self::needed($request, 'pid')];
        $told = $this->site->anywhere->tellWorkers($order, $host, (int) $pid);

        return new Done($told > 0 ? Told::Ordered : Told::NoWorker, '/workers', ['host' => $host, 'pid' => $pid, 'order' => $order->value]);
    }

    private static function needed(Request $request, string $field): string
    {
        return $request->field($field) ?? throw new ValueError("The field $field is missing");
    }

    /** The text itself, which keeps {} and big numbers; for a queue of whatever format. */
    private static function json(Request $request): string
    {
        $text = self::needed($request, 'payload');
        try {
            json_decode($text, false, 512, JSON_THROW_ON_ERROR);
        } catch (JsonException $error) {
            throw new ValueError("The payload is no JSON: {$error->getMessage()}", 0, $error);
        }

        return $text;
    }

    /** Stores texts as they are. */
    private static function raw(DelayQueue $queue): DelayQueue
    {
        return $queue->sibling($queue->name(), ['format' => 'raw']);
    }
}
