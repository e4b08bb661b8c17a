<?php

declare(strict_types=1);

namespace DelayQueue\Database\Internal;

use DelayQueue\Database\Outbox;
use DelayQueue\OnDuplicate;
use Error;
use TypeError;
use ValueError;

/**
 * Makes rows of the arguments of an outbox's pushes, checked as a push checks them.
 *
 * @internal
 */
final class NewRows
{
    /** For so many jobs it remembers when their last row was made. */
    private const MOST = 10_000;

    /** @var array<string, string> the millisecond of the last row of an id, as row ids begin, by queue and id */
    private array $latest = [];

    public function __construct(private readonly Targets $targets, private readonly bool $journal)
    {
    }

    /**
     * @param array<string, mixed> $job the arguments of prepare() by their names
     * @param string $method of Outbox, for errors
     * @param int|null $item its position in pushMany()
     */
    public function make(string $queue, array $job, string $method, ?int $item = null): Row
    {
        $refused = static function (string $class, string $name, string $must) use ($job, $method, $item): Error {
            $argument = $item === null
                ? sprintf('#%d ($%s)', 2 + array_search($name, array_keys($job), true), $name)
                : "#2 (\$jobs) item $item: \"$name\"";

            return new $class(Outbox::class . "::$method(): Argument $argument $must");
        };
        if (isset($job['unique'])) {
            throw $refused(ValueError::class, 'unique', 'must be null: the row itself arrives once');
        }
        if ($job['onDuplicate'] === OnDuplicate::Fail && ($method !== 'pushNow' || $this->journal)) {
            $must = 'must be OnDuplicate::Keep or Replace: when the job reaches Redis, nobody hears of a duplicate';
            throw $refused(ValueError::class, 'onDuplicate', $must);
        }
        try {
            $prepared = $this->targets->queue($queue)->prepare(...$job);
        } catch (TypeError|ValueError $error) {
            $words = '/::prepare\(\): Argument #\d+ \(\$(\w+)\) (.*)$/sD';
            $isOurs = preg_match($words, $error->getMessage(), $found) === 1;
            throw $isOurs ? $refused($error::class, $found[1], $found[2]) : $error;
        } catch (Error $error) {
            $what = Outbox::class . "::$method(): Argument #2 (\$jobs) item $item: {$error->getMessage()}";
            $isUnknown = str_starts_with($error->getMessage(), 'Unknown named');
            throw $isUnknown ? new ValueError($what, 0, $error) : $error;
        }
        foreach (['id' => $prepared->id, 'group' => $prepared->group] as $name => $text) {
            preg_match('//u', (string) $text) === 1
                || throw $refused(ValueError::class, $name, 'must be UTF-8, since the database stores it as text');
        }
        $id = ($job['id'] ?? null) === null ? $prepared->id : $this->idOfRow($queue, $prepared->id);

        return Row::ofJob($id, $queue, $prepared);
    }

    /** Two jobs of one id and one millisecond would be one in the journal: later than the last one. */
    private function idOfRow(string $queue, string $job): string
    {
        $key = "$queue $job";
        do {
            $id = $this->targets->queue($queue)->prepare('')->id;
            $millisecond = substr($id, 0, 13);
        } while ($millisecond <= ($this->latest[$key] ?? ''));
        $this->latest = count($this->latest) < self::MOST ? $this->latest : [];
        $this->latest[$key] = $millisecond;

        return $id;
    }
}
