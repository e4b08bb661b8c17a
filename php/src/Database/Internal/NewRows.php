<?php

declare(strict_types=1);

namespace DelayQueue\Database\Internal;

use DelayQueue\Database\Outbox;
use DelayQueue\InvalidArgument;
use DelayQueue\NewJob;
use DelayQueue\PayloadException;
use DelayQueue\QueueInterface;
use TypeError;

/**
 * Makes rows of the jobs that an outbox is given, checked as a push checks them.
 *
 * @internal
 */
final class NewRows
{
    /** For so many jobs it remembers when their last row was made. */
    private const MOST = 10_000;

    /** @var array<string, string> the millisecond of the last row of an id, as row ids begin, by queue and id */
    private array $latest = [];

    public function __construct(private readonly Targets $targets)
    {
    }

    /**
     * @param string $method of Outbox, for errors
     * @param int|null $item its position in a list of them, which is $parameter
     *
     * @throws InvalidArgument|TypeError|PayloadException
     */
    public function make(string $queue, mixed $job, string $method, ?int $item = null, string $parameter = 'job'): Row
    {
        $target = $this->targets->queue($queue);
        $where = Outbox::class . "::$method(): Argument #2 (\$$parameter)" . ($item === null ? '' : " item $item");
        $job instanceof NewJob || is_array($job)
            || throw new TypeError("$where must be of type " . NewJob::class . '|array, ' . get_debug_type($job) . ' given');
        try {
            $prepared = $target->prepare($job);
        } catch (InvalidArgument $error) {
            throw self::refused($where, $error->key, $error->reason, [$parameter, $item], $error);
        } catch (TypeError $error) {
            throw $item === null ? $error : new TypeError("$where: {$error->getMessage()}", 0, $error);
        }
        if ($prepared->unique !== null) {
            throw self::refused($where, 'unique', 'must be null: the row itself arrives once', [$parameter, $item]);
        }
        foreach (['id' => $prepared->id, 'group' => $prepared->group] as $name => $text) {
            preg_match('//u', (string) $text) === 1
                || throw self::refused($where, $name, 'must be UTF-8, since the database stores it as text', [$parameter, $item]);
        }
        $isNamed = ($job instanceof NewJob ? $job->id : $job['id'] ?? null) !== null;

        return Row::ofJob($isNamed ? $this->idOfRow($target, $queue, $prepared->id) : $prepared->id, $queue, $prepared, $target->settings());
    }

    /** @param array{string, int|null} $place the parameter, and the position in it */
    private static function refused(string $where, ?string $key, string $reason, array $place, ?InvalidArgument $cause = null): InvalidArgument
    {
        // Of a key that is unknown the reason names it.
        $isKnown = $key !== null && property_exists(NewJob::class, $key);
        $error = new InvalidArgument($where . ($isKnown ? ": \"$key\"" : '') . " $reason", 0, $cause);
        [[$error->parameter, $error->item], $error->key, $error->reason] = [$place, $key, $reason];

        return $error;
    }

    /** Two jobs of one id and one millisecond would be one in the journal: later than the last one. */
    private function idOfRow(QueueInterface $target, string $queue, string $job): string
    {
        $key = "$queue $job";
        do {
            // The extension makes ids, each later than the one before.
            $id = $target->prepare(['payload' => ''])->id;
            $millisecond = substr($id, 0, 13);
        } while ($millisecond <= ($this->latest[$key] ?? ''));
        $this->latest = count($this->latest) < self::MOST ? $this->latest : [];
        $this->latest[$key] = $millisecond;

        return $id;
    }
}
