<?php

declare(strict_types=1);

namespace DelayQueue\Dump;

use DelayQueue\GroupLimits;
use DelayQueue\QueueInterface;

/**
 * Limits as one line of a dump: of a group, of all groups without limits of their own, or of the queue.
 *
 * @internal
 */
final class LimitsLine extends Line
{
    private const QUEUE = 'queue';

    private const OTHERS = 'others';

    private const GROUP = 'group';

    private readonly string $of;

    private readonly ?string $group;

    private readonly GroupLimits $limits;

    protected function __construct(Fields $fields)
    {
        parent::__construct($fields);
        $this->of = $fields->text('limitsOf');
        in_array($this->of, [self::QUEUE, self::OTHERS, self::GROUP], true) || throw Fields::missing('limitsOf');
        $this->group = $this->of === self::GROUP ? $fields->text('group') : null;
        $number = static fn (string $name): ?int => $fields->has($name) ? $fields->count($name) : null;
        $this->limits = new GroupLimits(
            $number('concurrency'),
            $fields->textOrNull('rate'),
            $number('burst'),
            $fields->count('weight', 1),
            $fields->flag('ordered'),
        );
    }

    /**
     * @param array{queue: ?GroupLimits, others: ?GroupLimits, groups: array<GroupLimits>} $limits of the queue
     *
     * @return iterable<string>
     */
    public static function writeAll(string $queue, array $limits, string $dump): iterable
    {
        foreach ([self::QUEUE, self::OTHERS] as $of) {
            if ($limits[$of] !== null) {
                $others = get_object_vars($limits[$of]) + ['dump' => $dump];
                yield Fields::line(['queue' => $queue, 'limitsOf' => $of], $others);
            }
        }
        foreach ($limits['groups'] as $group => $ofGroup) {
            $texts = ['queue' => $queue, 'limitsOf' => self::GROUP, 'group' => (string) $group];
            yield Fields::line($texts, get_object_vars($ofGroup) + ['dump' => $dump]);
        }
    }

    /**
     * @param array{queue: ?GroupLimits, others: ?GroupLimits, groups: array<GroupLimits>} $known limits of the queue, before and after
     *
     * @return bool false: the queue has such limits already, and keeps them
     */
    public function set(QueueInterface $queue, array &$known): bool
    {
        if (($this->group === null ? $known[$this->of] : $known['groups'][$this->group] ?? null) !== null) {
            return false;
        }
        if ($this->of === self::QUEUE) {
            $queue->limitQueue($this->limits->concurrency, $this->limits->rate, $this->limits->burst);
        } else {
            $queue->limitGroups($this->group, $this->limits);
        }
        $this->group === null ? $known[$this->of] = $this->limits : $known['groups'][$this->group] = $this->limits;

        return true;
    }

    public function item(callable $now): ?array
    {
        return null;
    }
}
