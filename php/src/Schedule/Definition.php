<?php

declare(strict_types=1);

namespace DelayQueue\Schedule;

use DateTimeImmutable;
use DelayQueue\Internal\ExactJson;
use DelayQueue\Internal\GivenJob;
use DelayQueue\Internal\Moment;
use DelayQueue\OnDuplicate;
use DelayQueue\QueueInterface;
use Error;
use JsonException;
use TypeError;
use UnexpectedValueException;
use ValueError;

/**
 * A schedule as its job's payload has it: when it comes, and the job to push then.
 *
 * @internal
 */
final class Definition
{
    /** Seconds: a moment is not missed while a runner is replaced, or the lease of one that was killed ends. */
    public const ON_TIME = 60.0;

    private const DAY = 86400.0;

    /**
     * @param non-empty-string $queue
     * @param mixed $payload as push() takes it
     * @param float|CatchUp $catchUp in seconds
     * @param array<string, mixed> $options of the job, as pushMany() takes them
     * @param string|null $json the payload as it is stored, where PHP would write its numbers otherwise
     */
    public function __construct(
        public readonly Cron|Every $when,
        public readonly string $queue,
        public readonly mixed $payload,
        public readonly Overlap $overlap = Overlap::Allow,
        public readonly float|CatchUp $catchUp = 3600.0,
        public readonly float $jitter = 0.0,
        public readonly ?DateTimeImmutable $until = null,
        public readonly array $options = [],
        public readonly ?string $json = null,
    ) {
    }

    /**
     * @param string $json payload of a job
     *
     * @throws UnexpectedValueException when it is none
     * @throws Error when the library of lines of cron is not there
     */
    public static function read(string $json): self
    {
        try {
            // Objects stay objects: {} in the payload of the job to push is no [].
            $stored = json_decode($json, flags: JSON_THROW_ON_ERROR);
            if (!is_object($stored) || !isset($stored->queue) || !is_string($stored->queue)) {
                throw new UnexpectedValueException('it names no queue');
            }

            $exact = self::exact($stored, $json);

            return new self(
                isset($stored->every) ? Every::interval($stored->every) : self::cron($stored->cron ?? '', $stored->zone ?? 'UTC'),
                $stored->queue,
                $exact === null ? $stored->payload ?? null : json_decode($exact, flags: JSON_THROW_ON_ERROR),
                Overlap::from($stored->overlap ?? Overlap::Allow->value),
                is_string($stored->catchUp ?? 0) ? CatchUp::from($stored->catchUp) : self::number($stored->catchUp ?? 0),
                self::number($stored->jitter ?? 0),
                isset($stored->until) ? Moment::of(self::number($stored->until)) : null,
                GivenJob::fromJson((array) ($stored->options ?? [])),
                $exact,
            );
        } catch (JsonException $error) {
            throw new UnexpectedValueException("it is not JSON ({$error->getMessage()})", 0, $error);
        } catch (ValueError | TypeError $error) {
            throw new UnexpectedValueException($error->getMessage(), 0, $error);
        }
    }

    /** @return array<string, mixed> the payload of the schedule's job */
    public function toArray(): array
    {
        return $this->when->toArray() + [
            'queue' => $this->queue,
            ...($this->json === null ? ['payload' => $this->payload] : ['json' => $this->json]),
            'overlap' => $this->overlap->value,
            'catchUp' => $this->catchUp instanceof CatchUp ? $this->catchUp->value : $this->catchUp,
        ] + array_filter([
            'jitter' => $this->jitter ?: null,
            'until' => $this->until === null ? null : (float) $this->until->format('U.u'),
            'options' => GivenJob::toJson($this->options) ?: null,
        ], static fn (mixed $value): bool => $value !== null);
    }

    /** Whether each missed moment runs. Where overlaps are left out or cancelled, all but one would be. */
    public function runsEach(): bool
    {
        return $this->catchUp === CatchUp::All && $this->overlap === Overlap::Allow;
    }

    /** Its queue, for job(): of payloads as they are stored, where PHP would write numbers otherwise. */
    public function target(QueueInterface $queue): QueueInterface
    {
        return $this->json === null ? $queue : $queue->sibling($queue->name(), ['format' => 'raw']);
    }

    public function startingAt(?float $from): Cron|Every
    {
        return $this->when instanceof Every && $from !== null ? $this->when->from($from) : $this->when;
    }

    /**
     * The job of an occurrence, as pushMany() of target() takes it.
     *
     * @return array<string, mixed>
     */
    public function job(string $id, DateTimeImmutable $moment): array
    {
        return [
            'payload' => $this->json ?? $this->payload,
            'delay' => $this->jittered($id, $moment),
            'id' => $id,
            'onDuplicate' => OnDuplicate::Keep,
            'unique' => $this->window($moment),
        ] + $this->options;
    }

    /** An occurrence is repeated only after a crash, for as long as it is the latest one and would be caught up: so long its id has to stay taken. */
    private function window(DateTimeImmutable $moment): float
    {
        if ($this->catchUp instanceof CatchUp) {
            return self::DAY;
        }
        $next = $this->when->next($moment);
        $isLast = $next === null || ($this->until !== null && $next > $this->until);
        $latest = $isLast ? $this->catchUp : min($this->catchUp, (float) $next->format('U.u') - (float) $moment->format('U.u'));

        return max($latest, self::ON_TIME) + 300.0;
    }

    /** By the id: a repeat is due at the same moment. */
    private function jittered(string $id, DateTimeImmutable $moment): DateTimeImmutable
    {
        if ($this->jitter === 0.0) {
            return $moment;
        }
        $part = hexdec(substr(hash('sha256', $id), 0, 8)) / 0x1_0000_0000;

        return Moment::of((float) $moment->format('U.u') + round($this->jitter * $part, 3));
    }

    /** Null: PHP writes the payload as it is stored. */
    private static function exact(object $stored, string $json): ?string
    {
        if (isset($stored->json)) {
            return is_string($stored->json) ? $stored->json : throw new UnexpectedValueException('its json is no text');
        }
        // Somebody may have written the definition by hand, with numbers that PHP would round.
        $isSuspect = preg_match('/\d{19}|\d[eE]/', $json) === 1;

        return $isSuspect ? ExactJson::textUnlessPlain(ExactJson::decode($json)->payload ?? null) : null;
    }

    private static function number(mixed $stored): float
    {
        return is_int($stored) || is_float($stored) ? (float) $stored : throw new UnexpectedValueException('it has a number that is none');
    }

    /** Schedules have few different lines: each is parsed once. */
    private static function cron(string $line, string $zone): Cron
    {
        static $parsed = [];
        if (count($parsed) > 1_000) {
            $parsed = [];
        }

        return $parsed["$line $zone"] ??= Cron::parse($line, $zone);
    }
}
