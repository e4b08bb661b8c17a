<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard;

use DelayQueue\Exception;
use DelayQueue\Search\Search;
use DelayQueue\State;
use ValueError;

/**
 * Changes of all jobs that are found, and of all waiting jobs of a group, in steps. Each step is a POST of its own, so
 * that no request lasts. Its answer is a page that says how far it has come, with a form for the next step. No link
 * leads to such a page: what goes on by itself began with a click.
 */
final class ManyJobs
{
    /** Jobs that are read at a time. */
    private const PASS = 100;

    /** A step ends when it has read so many jobs, or has lasted so many seconds. */
    private const MOST = 500;
    private const SECONDS = 1.0;

    public function __construct(private readonly Site $site, private readonly Request $request)
    {
    }

    /** @return Done|Step|null null: there is no such change */
    public function found(string $change): Done|Step|null
    {
        if (!isset(Step::TITLES[$change])) {
            return null;
        }
        $field = $this->request->field(...);
        $state = State::tryFrom($field('state') ?? '') ?? throw new ValueError('The field state is missing');
        $find = Find::of($this->needed('queue'), $state, $field, !$this->site->hidesPayloads);
        $queue = $this->site->queue($find->queue);
        $arguments = match ($change) {
            'reschedule' => ['delay' => $this->needed('delay')],
            'move' => ['to' => $this->needed('to')],
            default => [],
        };
        $act = match ($change) {
            'cancel' => fn (Search $search): int => $search->cancel(
                by: fn (array $jobs): int => $this->site->cancel($queue, ...$jobs),
            ),
            'kick' => static fn (Search $search): int => $search->kick(),
            'reschedule' => static fn (Search $search): int => $search->reschedule($arguments['delay']),
            'move' => fn (Search $search): int => $search->moveTo($this->site->queue($arguments['to'])),
        };
        $pass = static function (Step $step) use ($find, $queue, $act): void {
            $search = $find->in($queue, $step->after)->reading(self::PASS);
            $step->done += $act($search);
            $step->read += $search->read();
            $step->left += $search->skipped();
            $step->after = $search->next();
        };

        $step = new Step("/found/$change", $change, '/queue', $find->parameters(), $arguments, $field);

        return $this->run($step, $pass);
    }

    /** Each pass begins at the first job, since those before are gone. */
    public function ofGroup(): Done|Step
    {
        [$name, $group] = [$this->needed('queue'), $this->needed('group')];
        $queue = $this->site->queue($name);
        $pass = function (Step $step) use ($queue, $group): void {
            $jobs = $queue->list(State::Ready, limit: self::PASS, group: $group)
                ?: $queue->list(State::Delayed, limit: self::PASS, group: $group);
            $cancelled = $jobs === [] ? 0 : $this->site->cancel($queue, ...$jobs);
            $step->after = $cancelled === 0 ? null : '';
            $step->read += count($jobs);
            $step->done += $cancelled;
        };
        $parameters = ['queue' => $name, 'group' => $group];
        $step = new Step('/group/cancel', 'cancel', '/groups', $parameters, [], $this->request->field(...));

        return $this->run($step, $pass);
    }

    /** @param callable(Step): void $pass */
    private function run(Step $step, callable $pass): Done|Step
    {
        [$before, $end] = [$step->read, hrtime(true) + self::SECONDS * 1e9];
        try {
            do {
                $pass($step);
            } while ($step->after !== null && $step->read - $before < self::MOST && hrtime(true) < $end);
        } catch (Exception $error) {
            $step->error = $error;

            return $step;
        }

        return $step->after === null ? $step->done() : $step;
    }

    private function needed(string $field): string
    {
        return $this->request->field($field) ?? throw new ValueError("The field $field is missing");
    }
}
