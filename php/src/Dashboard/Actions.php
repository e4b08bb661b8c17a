<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard;

use DelayQueue\WorkerOrder;
use JsonException;
use ValueError;

/** The changes that pages offer, by their addresses. */
final class Actions
{
    public function __construct(private readonly Site $site)
    {
    }

    /** @return Done|null null: there is no such action */
    public function run(string $path, Request $request): ?Done
    {
        return match ($path) {
            '/queue/pause' => $this->pause($request),
            '/queue/resume' => $this->resume($request),
            '/job/push' => $this->push($request),
            '/job/kick' => $this->onJob($request, fn (string $queue, string $id): bool => $this->site->queue($queue)->kickJob($id), 'was kicked'),
            '/job/cancel' => $this->onJob($request, fn (string $queue, string $id): bool => $this->site->queue($queue)->cancel($id) > 0, 'was cancelled'),
            '/job/reschedule' => $this->onJob(
                $request,
                fn (string $queue, string $id): bool => $this->site->queue($queue)->reschedule($id, $request->field('delay') ?? '0'),
                'was moved',
            ),
            '/job/update' => $this->onJob(
                $request,
                fn (string $queue, string $id): bool => $this->site->queue($queue)->update($id, self::json($request)),
                'has a new payload',
            ),
            '/worker' => $this->order($request),
            default => null,
        };
    }

    private function pause(Request $request): Done
    {
        $name = self::needed($request, 'queue');
        $for = $request->field('for');
        $this->site->queue($name)->pause($for);

        return $this->toQueue($name, "Queue $name is paused" . ($for === null ? '' : " for $for"));
    }

    private function resume(Request $request): Done
    {
        $name = self::needed($request, 'queue');
        $this->site->queue($name)->resume();

        return $this->toQueue($name, "Queue $name is open");
    }

    private function push(Request $request): Done
    {
        $name = self::needed($request, 'queue');
        $id = $this->site->queue($name)->push(self::json($request), delay: $request->field('delay') ?? '0', id: $request->field('id'));

        return $this->toJob($name, $id, "Job $id was pushed");
    }

    /** @param callable(string, string): bool $change */
    private function onJob(Request $request, callable $change, string $words): Done
    {
        [$name, $id] = [self::needed($request, 'queue'), self::needed($request, 'id')];

        return $this->toJob($name, $id, $change($name, $id) ? "Job $id $words" : "Job $id could not be changed: it is gone, or in a state in which that cannot be done");
    }

    private function order(Request $request): Done
    {
        $order = WorkerOrder::tryFrom(self::needed($request, 'order')) ?? throw new ValueError('There is no such order');
        $host = self::needed($request, 'host');
        $told = $this->site->anywhere->tellWorkers($order, $host, (int) self::needed($request, 'pid'));
        $words = $told === 0 ? 'That worker is not there any more' : "$host:{$request->field('pid')} was told to $order->value; it hears that within 12 seconds";

        return new Done($words, $this->site->url('/workers', ['told' => $words]));
    }

    private function toQueue(string $name, string $words): Done
    {
        return new Done($words, $this->site->url('/queue', ['name' => $name, 'told' => $words]));
    }

    private function toJob(string $name, string $id, string $words): Done
    {
        return new Done("$words (queue $name)", $this->site->url('/job', ['queue' => $name, 'id' => $id, 'told' => $words]));
    }

    private static function needed(Request $request, string $field): string
    {
        return $request->field($field) ?? throw new ValueError("The field $field is missing");
    }

    private static function json(Request $request): mixed
    {
        try {
            return json_decode(self::needed($request, 'payload'), false, 512, JSON_THROW_ON_ERROR);
        } catch (JsonException $error) {
            throw new ValueError("The payload is no JSON: {$error->getMessage()}", 0, $error);
        }
    }
}
