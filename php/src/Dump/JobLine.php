<?php

declare(strict_types=1);

namespace DelayQueue\Dump;

use DelayQueue\Backoff;
use DelayQueue\Internal\Moment;
use DelayQueue\JobInfo;
use DelayQueue\State;
use ValueError;

/**
 * A job as one line of a dump.
 *
 * @internal
 */
final class JobLine extends Line
{
    /** Numbers of the past. A line of an earlier version has only the first one. */
    private const COUNTS = ['attempts', 'timeouts', 'releases', 'buries', 'kicks'];

    /** @var array{alg: string, key: string, tag: string}|null of a payload and headers that are sealed */
    public readonly ?array $seal;

    /** @var array<string, mixed> for pushOnce() */
    private readonly array $item;

    protected function __construct(Fields $fields)
    {
        parent::__construct($fields);
        [$id, $payload] = [$fields->text('id'), $fields->text('payload')];
        $dueAt = $fields->number('dueAt');
        $this->seal = self::seal($fields);
        $count = static fn (string $name): int => $fields->count($name, $name === 'attempts' ? null : 0);
        $counts = array_combine(self::COUNTS, array_map($count, self::COUNTS));
        $job = [
            'receipt' => $this->loadReceipt('job', $id),
            'id' => $id,
            'payload' => $payload,
            'delay' => Moment::of($dueAt),
            'createdAt' => $fields->numberOrNull('createdAt'),
            'priority' => $fields->count('priority'),
            'ttr' => $fields->number('ttr'),
            'timeout' => $fields->number('timeout'),
            'backoff' => self::backoff($fields->text('backoff')),
            'maxAttempts' => $fields->count('maxAttempts'),
            'headers' => $fields->texts('headers'),
            'seal' => $this->seal,
            'group' => $fields->textOrNull('group'),
            'extras' => $fields->textOrNull('extras'),
        ];
        $past = $counts + ['firstDueAt' => $fields->numberOrNull('firstDueAt') ?? $dueAt, 'lastError' => $fields->textOrNull('lastError')];
        $this->item = match (State::tryFrom($fields->text('state')) ?? throw Fields::missing('state')) {
            State::Delayed => $job + (self::isFresh($past, $dueAt) && $job['extras'] === null ? [] : ['past' => $past]),
            State::Ready => $job + ['past' => $past],
            State::Reserved => self::afterItsLease($job, $past, $fields->numberOrNull('leaseUntil') ?? $dueAt),
            State::Buried => $job + ['past' => $past, 'state' => State::Buried],
        };
    }

    /** @param string $dump tells the dump from all others */
    public static function write(JobInfo $job, string $dump): string
    {
        $texts = ['queue' => $job->queue, 'id' => $job->id, 'payload' => $job->body, 'state' => $job->state->value, 'lastError' => $job->lastError]
            + ($job->group === null ? [] : ['group' => $job->group]);
        $others = [
            'dueAt' => $job->dueAt,
            'priority' => $job->priority,
            'ttr' => $job->ttr,
            'timeout' => $job->timeout,
            'backoff' => (string) $job->backoff,
            'attempts' => $job->attempts,
            'maxAttempts' => $job->maxAttempts,
            'createdAt' => $job->createdAt,
            'leaseUntil' => $job->leaseUntil,
            'timeouts' => $job->timeouts,
            'releases' => $job->releases,
            'buries' => $job->buries,
            'kicks' => $job->kicks,
            'firstDueAt' => $job->firstDueAt ?? $job->dueAt,
            'dump' => $dump,
        ];
        if ($job->headers !== []) {
            // An object, also when the names are numbers.
            $others['headers'] = (object) $job->headers;
        }
        $extras = Extras::withoutGroup($job->extras);
        if ($extras !== null) {
            $others['extrasBase64'] = base64_encode($extras);
        }
        if ($job->seal !== null && $job->sealError !== null) {
            $others['seal'] = $job->seal;
        }

        return Fields::line($texts, $others);
    }

    public function item(callable $now): array
    {
        return $this->item;
    }

    /**
     * Most jobs that are delayed are: their past would only take memory. It is kept of those with extras, since moments may count from when they fell
     * due first, also when that is before the load.
     *
     * @param array<string, mixed> $past
     */
    private static function isFresh(array $past, float $dueAt): bool
    {
        return $past === array_fill_keys(self::COUNTS, 0) + ['firstDueAt' => $dueAt, 'lastError' => null];
    }

    /**
     * A job that was held, as if its lease had run out.
     *
     * @param array<string, mixed> $job
     * @param array<string, mixed> $past
     *
     * @return array<string, mixed>
     */
    private static function afterItsLease(array $job, array $past, float $leaseUntil): array
    {
        $past = ['timeouts' => $past['timeouts'] + 1, 'lastError' => 'lease expired'] + $past;
        if ($job['maxAttempts'] === 0 || $past['attempts'] < $job['maxAttempts']) {
            return $job + ['past' => $past];
        }

        return ['delay' => Moment::of($leaseUntil)] + $job + ['past' => ['buries' => $past['buries'] + 1] + $past, 'state' => State::Buried];
    }

    /** @return array{alg: string, key: string, tag: string}|null */
    private static function seal(Fields $fields): ?array
    {
        if (!$fields->has('seal')) {
            return null;
        }
        $seal = $fields->texts('seal');
        $isSeal = count($seal) === 3 && array_diff(['alg', 'key', 'tag'], array_keys($seal)) === [];

        return $isSeal ? $seal : throw Fields::missing('seal');
    }

    private static function backoff(string $text): Backoff
    {
        try {
            return Backoff::parse($text);
        } catch (ValueError) {
            throw Fields::missing('backoff');
        }
    }
}
