<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard;

use DelayQueue;
use DelayQueue\Search\Search;
use DelayQueue\State;
use ValueError;

/** Changes of all jobs that are found: a bounded step for each request, so that none lasts. The page after a step goes on with the next one. */
final class FoundActions
{
    private const STEP = 500;

    public function __construct(private readonly Site $site)
    {
    }

    /** @return Done|null null: there is no such change */
    public function run(string $change, Request $request): ?Done
    {
        $state = State::tryFrom($request->field('state') ?? '') ?? throw new ValueError('The field state is missing');
        $find = Find::of($request->field('queue') ?? throw new ValueError('The field queue is missing'), $state, $request->field(...), !$this->site->hidesPayloads);
        $queue = $this->site->queue($find->queue);
        $search = $find->in($queue, $request->field('after'))->reading(self::STEP);
        $changed = $this->change($change, $search, $queue, $request);
        if ($changed === null) {
            return null;
        }
        $numbers = [
            'done' => (string) ($changed + (int) $request->field('done')),
            'read' => (string) ($search->read() + (int) $request->field('read')),
        ];
        if (!$search->isCut()) {
            return new Done(Told::Found, '/queue', $find->parameters() + ['done' => $numbers['done']]);
        }

        return new Done(Told::Found, '/found', $find->parameters() + $numbers + array_filter([
            'change' => $change,
            'total' => $request->field('total'),
            'delay' => $request->field('delay'),
            'to' => $request->field('to'),
            'after' => $search->lastLeft()?->id ?? $request->field('after'),
        ], static fn (?string $value): bool => $value !== null));
    }

    private function change(string $change, Search $search, DelayQueue $queue, Request $request): ?int
    {
        return match ($change) {
            'cancel' => $search->cancel(by: fn (array $jobs): int => $this->site->cancel($queue, ...$jobs)),
            'kick' => $search->kick(),
            'reschedule' => $search->reschedule($request->field('delay') ?? throw new ValueError('The field delay is missing')),
            'move' => $search->moveTo($this->site->queue($request->field('to') ?? throw new ValueError('The field to is missing'))),
            default => null,
        };
    }
}
