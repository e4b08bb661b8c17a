<?php

declare(strict_types=1);

namespace DelayQueue\Schedule;

use Closure;
use DateTimeImmutable;
use DelayQueue\Internal\Moment;
use DelayQueue\Internal\Sealed;
use DelayQueue\Internal\Verbatim;
use DelayQueue\OnExpiry;
use DelayQueue\QueueInterface;
use TypeError;
use ValueError;

/**
 * From the arguments of Schedules::set() to a definition that has no mistakes.
 *
 * @internal
 */
final class Check
{
    private const METHOD = Schedules::class . '::set';

    /** Parameters of push(), and whether they are lengths of time. */
    private const OPTIONS = [
        'priority' => false, 'ttr' => true, 'maxAttempts' => false, 'backoff' => false, 'timeout' => true, 'headers' => false,
        'expires' => true, 'onExpiry' => false, 'retryUntil' => true, 'group' => false,
    ];

    /** So many moments of a line of cron say how close they come. */
    private const SAMPLES = 24;

    /** The longest id of an occurrence has a name that is so much shorter. */
    private const AT = '@2026-11-24T09:00:00.000Z';

    public function __construct(private readonly QueueInterface $queue, private readonly Closure $open)
    {
    }

    /** @param array<string, mixed> $arguments of Schedules::set(); those that may be left out may be missing */
    public function definition(array $arguments): Definition
    {
        $arguments += ['payload' => null, 'overlap' => Overlap::Allow, 'catchUp' => '1h', 'jitter' => 0, 'until' => null];
        $catchUp = $arguments['catchUp'];
        $until = $arguments['until'] === null ? null : DateTimeImmutable::createFromInterface($arguments['until']);
        [$payload, $json] = [$arguments['payload'], null];
        if ($payload instanceof Verbatim) {
            [$payload, $json] = [json_decode($payload->json, flags: JSON_THROW_ON_ERROR), $payload->json];
        }
        $definition = new Definition(
            $arguments['when'],
            $arguments['queue'],
            $payload,
            $arguments['overlap'],
            $catchUp instanceof CatchUp ? $catchUp : Arguments::duration($catchUp, self::METHOD, 'catchUp'),
            Arguments::duration($arguments['jitter'], self::METHOD, 'jitter'),
            $until === null ? null : Moment::of((float) $until->format('U.u')),
            self::options($arguments),
            $json,
        );
        $this->checkJob($arguments['name'], $definition);
        $this->isStored($arguments['name'], $definition) || $this->checkTimes($definition);

        return $definition;
    }

    /**
     * @param array<string, mixed> $arguments
     *
     * @return array<string, mixed>
     */
    private static function options(array $arguments): array
    {
        $options = [];
        foreach (self::OPTIONS as $name => $isDuration) {
            $value = $arguments[$name] ?? null;
            if ($value !== null && $value !== [] && $value !== OnExpiry::Bury) {
                $options[$name] = $isDuration ? Arguments::duration($value, self::METHOD, $name) : $value;
            }
        }

        return $options;
    }

    /** As the queues would check it at each push. */
    private function checkJob(string $name, Definition $definition): void
    {
        try {
            $this->queue->prepare(null, id: $name);
        } catch (ValueError $error) {
            throw Arguments::relayed($error, self::METHOD);
        }
        if (strlen($name . self::AT) > 200) {
            $most = 200 - strlen(self::AT);
            throw Arguments::wrong(self::METHOD, 'name', "must be at most $most bytes long: ids of its jobs have a moment behind it");
        }
        if ($definition->queue === $this->queue->name()) {
            throw Arguments::wrong(self::METHOD, 'queue', 'must be another queue than that of the schedules');
        }
        try {
            $job = $definition->job($name . self::AT, new DateTimeImmutable('@0'));
            $opened = ($this->open)($definition->queue);
            $target = $definition->target($opened);
            // A queue of raw payloads says that it takes none but strings.
            $definition->json === null || $opened->prepare([]);
            $prepared = $target->prepare(...$job);
            $this->queue->prepare($definition->toArray());
        } catch (ValueError $error) {
            throw Arguments::relayed($error, self::METHOD);
        } catch (TypeError $error) {
            $isPayload = str_contains($error->getMessage(), '($payload) must be of type string');
            throw $isPayload ? Arguments::wrong(self::METHOD, 'payload', "must be of type string: $definition->queue has raw payloads", $error) : $error;
        }
        Sealed::refuseWithoutKeys($target, $prepared->isSealed);
    }

    /** A schedule that goes on as it is may be at its end. */
    private function isStored(string $name, Definition $definition): bool
    {
        return $definition->until !== null && $this->queue->peek($name)?->body === $this->queue->prepare($definition->toArray())->body;
    }

    /** @throws ValueError|Ended */
    private function checkTimes(Definition $definition): void
    {
        $now = Moment::of($this->queue->now());
        if ($definition->until !== null && $definition->until <= $now) {
            throw new Ended(Arguments::wrong(self::METHOD, 'until', 'must be in the future')->getMessage());
        }
        $when = $definition->startingAt((float) $now->format('U.u'));
        if ($definition->until !== null && (($next = $when->next($now)) === null || $next > $definition->until)) {
            $must = 'must be after the first moment' . ($next === null ? '' : ', ' . $next->format(DATE_ATOM));
            throw new Ended(Arguments::wrong(self::METHOD, 'until', $must)->getMessage());
        }
        if ($definition->jitter > 0 && $definition->jitter > ($interval = self::shortest($when, $now))) {
            throw Arguments::wrong(self::METHOD, 'jitter', "must be at most the time between two moments, $interval s");
        }
    }

    /** Seconds between two moments. */
    private static function shortest(Cron|Every $when, DateTimeImmutable $now): float
    {
        if ($when instanceof Every) {
            return $when->seconds();
        }
        [$shortest, $last] = [INF, $when->next($now)];
        for ($sample = 0; $sample < self::SAMPLES && $last !== null && ($next = $when->next($last)) !== null; $sample++) {
            $shortest = min($shortest, $next->getTimestamp() - $last->getTimestamp());
            $last = $next;
        }

        return (float) $shortest;
    }
}
