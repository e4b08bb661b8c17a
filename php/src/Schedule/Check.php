<?php

declare(strict_types=1);

namespace DelayQueue\Schedule;

use Closure;
use DateInterval;
use DateTimeImmutable;
use DateTimeInterface;
use DelayQueue\Internal\GivenJob;
use DelayQueue\Internal\Invalid;
use DelayQueue\Internal\Moment;
use DelayQueue\Internal\Sealed;
use DelayQueue\Internal\Verbatim;
use DelayQueue\InvalidArgument;
use DelayQueue\NewJob;
use DelayQueue\QueueInterface;
use TypeError;
use ValueError;

use function DelayQueue\duration;

/**
 * From the arguments of Schedules::set() to a definition that has no mistakes.
 *
 * @internal
 */
final class Check
{
    private const METHOD = Schedules::class . '::set';

    private const JOB = self::METHOD . '(): Argument #4 ($job)';

    /** Each occurrence has its own. */
    private const NOT_HERE = ['delay', 'id', 'onDuplicate', 'unique', 'maxWait', 'extras'];

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
        $arguments += ['job' => [], 'overlap' => Overlap::Allow, 'catchUp' => '1h', 'jitter' => 0, 'until' => null];
        $catchUp = $arguments['catchUp'];
        $until = $arguments['until'] === null ? null : DateTimeImmutable::createFromInterface($arguments['until']);
        $options = GivenJob::read(is_array($arguments['job']) ? $arguments['job'] + ['payload' => null] : $arguments['job'], self::JOB, self::NOT_HERE);
        [$payload, $json] = [$options['payload'], null];
        unset($options['payload']);
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
            self::inSeconds($options),
            $json,
        );
        $this->checkJob($arguments['name'], $definition);
        $this->isStored($arguments['name'], $definition) || $this->checkTimes($definition);

        return $definition;
    }

    /**
     * @param array<string, mixed> $options
     *
     * @return array<string, mixed>
     */
    private static function inSeconds(array $options): array
    {
        foreach ($options as $name => $value) {
            if ($value instanceof DateTimeInterface) {
                throw Invalid::key(self::JOB, $name, 'must be a length of time, which counts from the moment of each job');
            }
            if (GivenJob::mayBe($name, DateInterval::class) && (is_scalar($value) || $value instanceof DateInterval)) {
                try {
                    $options[$name] = duration($value);
                } catch (InvalidArgument $error) {
                    throw Invalid::key(self::JOB, $name, $error->reason, $error);
                }
            }
        }

        return $options;
    }

    /** As the queues would check it at each push. */
    private function checkJob(string $name, Definition $definition): void
    {
        try {
            new NewJob(null, id: $name);
        } catch (InvalidArgument $error) {
            throw Arguments::wrong(self::METHOD, 'name', $error->reason, $error);
        }
        if (strlen($name . self::AT) > 200) {
            $most = 200 - strlen(self::AT);
            throw Arguments::wrong(self::METHOD, 'name', "must be at most $most bytes long: ids of its jobs have a moment behind it");
        }
        if ($definition->queue === $this->queue->name()) {
            throw Arguments::wrong(self::METHOD, 'queue', 'must be another queue than that of the schedules');
        }
        try {
            $opened = ($this->open)($definition->queue);
        } catch (InvalidArgument $error) {
            throw Arguments::wrong(self::METHOD, 'queue', $error->reason, $error);
        }
        if ($opened->settings()->format === 'raw' && (!is_string($definition->payload) || $definition->json !== null)) {
            throw Invalid::key(self::JOB, 'payload', "must be of type string: $definition->queue has raw payloads");
        }
        $target = $definition->target($opened);
        try {
            $target->prepare($definition->job($name . self::AT, new DateTimeImmutable('@0')));
        } catch (TypeError | ValueError $error) {
            throw GivenJob::wrong($error, self::JOB);
        }
        $this->queue->prepare(['payload' => $definition->toArray()]);
        Sealed::refuseWithoutKeys($target);
    }

    /** A schedule that goes on as it is may be at its end. */
    private function isStored(string $name, Definition $definition): bool
    {
        return $definition->until !== null && $this->queue->peek($name)?->body === $this->queue->prepare(['payload' => $definition->toArray()])->body;
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
