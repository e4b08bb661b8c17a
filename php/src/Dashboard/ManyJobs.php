<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard;

use DelayQueue\Exception;
use DelayQueue\Search\Search;
use DelayQueue\State;
use ValueError;

/**
 * Changes of all jobs that are found, and of all waiting jobs of a group, in steps. A step is a POST of its own, so that no request lasts; it is answered by
 * a page that says how far it has come, with a form for the next step. No link leads to such a page: what goes on by itself began with a click here.
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
        $state = State::tryFrom($this->request->field('state') ?? '') ?? throw new ValueError('The field state is missing');
        $find = Find::of($this->needed('queue'), $state, $this->request->field(...), !$this->site->hidesPayloads);
        $queue = $this->site->queue($find->queue);
        $arguments = match ($change) {
            'reschedule' => ['delay' => $this->needed('delay')],
            'move' => ['to' => $this->needed('to')],
            default => [],
        };
        $act = match ($change) {
            'cancel' => static fn (Search $search): int => $search->cancel(),
            'kick' => static fn (Search $search): int => $search->kick(),
            'reschedule' => static fn (Search $search): int => $search->reschedule($arguments['delay']),
            'move' => fn (Search $search): int => $search->moveTo($this->site->queue($arguments['to'])),
        };

        return $this->step('/found', $change, '/queue', $find->parameters(), $arguments, static function (Step $step) use ($find, $queue, $act): void {
            $search = $find->in($queue, $step->after)->reading(self::PASS);
            $step->done += $act($search);
            $step->read += $search->read();
            $step->left += $search->skipped();
            $step->after = $search->next();
        });
    }

    /** The waiting jobs of a group are gone when it has none, so each pass begins at the first one. */
    public function ofGroup(): Done|Step
    {
        [$name, $group] = [$this->needed('queue'), $this->needed('group')];
        $queue = $this->site->queue($name);

        return $this->step('/group', 'cancel', '/groups', ['queue' => $name, 'group' => $group], [], static function (Step $step) use ($queue, $group): void {
            $jobs = $queue->list(State::Ready, 0, self::PASS, null, $group) ?: $queue->list(State::Delayed, 0, self::PASS, null, $group);
            $cancelled = $jobs === [] ? 0 : $queue->cancel(...array_column($jobs, 'id'));
            $step->after = $cancelled === 0 ? null : '';
            $step->read += count($jobs);
            $step->done += $cancelled;
        });
    }

    /**
     * @param string $page to which it returns
     * @param array<string, string> $parameters of this page
     * @param array<string, string> $arguments of the change
     * @param callable(Step): void $pass
     */
    private function step(string $path, string $change, string $page, array $parameters, array $arguments, callable $pass): Done|Step
    {
        $step = new Step("$path/$change", $change, $page, $parameters, $arguments, $this->request->field(...));
        [$before, $end] = [$step->read, hrtime(true) + self::SECONDS * 1e9];
        try {
            do {
                $pass($step);
            } while ($step->after !== null && $step->read - $before < self::MOST && hrtime(true) < $end);
        } catch (Exception $error) {
            return $step->brokenOff($error);
        }

        return $step->after === null ? $step->done() : $step;
    }

    private function needed(string $field): string
    {
        return $this->request->field($field) ?? throw new ValueError("The field $field is missing");
    }
}
