<?php

declare(strict_types=1);

namespace DelayQueue\Dump;

use DelayQueue\Backoff;
use DelayQueue\Internal\Json;
use DelayQueue\JobInfo;
use DelayQueue\State;
use JsonException;
use UnexpectedValueException;
use ValueError;

/**
 * A job as one line of a dump.
 *
 * @internal
 */
final class JobLine
{
    /** A load counts attempts by taking the job as often: more of them would keep it busy for minutes, or for ever. */
    public const MOST_ATTEMPTS = 10_000;

    private function __construct(
        public readonly string $queue,
        public readonly string $id,
        public readonly string $payload,
        public readonly State $state,
        /** Unix seconds. */
        public readonly float $dueAt,
        public readonly int $priority,
        /** Seconds. */
        public readonly float $ttr,
        /** Seconds; 0: none. */
        public readonly float $timeout,
        public readonly Backoff $backoff,
        public readonly int $attempts,
        public readonly int $maxAttempts,
        public readonly ?string $lastError,
        /** @var array<string> by name */
        public readonly array $headers,
        /** @var array{alg: string, key: string, tag: string}|null of a payload and headers that are sealed */
        public readonly ?array $seal,
        /** Bytes of a newer version. */
        public readonly ?string $extras,
    ) {
    }

    /** Without a line's end. Strings that are not UTF-8 are under their name and "Base64". */
    public static function write(JobInfo $job): string
    {
        $fields = [];
        $texts = ['queue' => $job->queue, 'id' => $job->id, 'payload' => $job->body, 'state' => $job->state->value, 'lastError' => $job->lastError];
        foreach ($texts as $name => $text) {
            $isText = preg_match('//u', $text ?? '') === 1;
            $fields += $isText ? [$name => $text] : [$name . 'Base64' => base64_encode((string) $text)];
        }
        if ($job->headers !== []) {
            // An object, also when the names are numbers.
            $fields['headers'] = (object) $job->headers;
        }

        if ($job->extras !== null) {
            $fields['extrasBase64'] = base64_encode($job->extras);
        }

        if ($job->seal !== null && $job->sealError !== null) {
            $fields['seal'] = $job->seal;
        }

        return Json::line($fields + [
            'dueAt' => $job->dueAt,
            'priority' => $job->priority,
            'ttr' => $job->ttr,
            'timeout' => $job->timeout,
            'backoff' => (string) $job->backoff,
            'attempts' => $job->attempts,
            'maxAttempts' => $job->maxAttempts,
            // These cannot be loaded; they are for readers.
            'createdAt' => $job->createdAt,
            'leaseUntil' => $job->leaseUntil,
            'timeouts' => $job->timeouts,
            'releases' => $job->releases,
            'buries' => $job->buries,
            'kicks' => $job->kicks,
        ]);
    }

    /** @throws UnexpectedValueException when this is not a line of a dump, or not one that can be loaded */
    public static function read(string $line): self
    {
        try {
            $fields = json_decode($line, true, flags: JSON_THROW_ON_ERROR);
        } catch (JsonException $error) {
            throw new UnexpectedValueException("not JSON: {$error->getMessage()}", 0, $error);
        }
        if (!is_array($fields)) {
            throw new UnexpectedValueException('not an object');
        }
        $text = static fn (string $name): ?string => self::text($fields, $name);
        $attempts = self::count($fields, 'attempts');
        if ($attempts > self::MOST_ATTEMPTS) {
            throw new UnexpectedValueException('"attempts" is ' . $attempts . ', and more than ' . self::MOST_ATTEMPTS . ' cannot be restored: lower it');
        }

        return new self(
            $text('queue') ?? throw self::missing('queue'),
            $text('id') ?? throw self::missing('id'),
            $text('payload') ?? throw self::missing('payload'),
            State::tryFrom($text('state') ?? '') ?? throw self::missing('state'),
            self::number($fields, 'dueAt'),
            self::count($fields, 'priority'),
            self::number($fields, 'ttr'),
            self::number($fields, 'timeout'),
            self::backoff($text('backoff') ?? throw self::missing('backoff')),
            $attempts,
            self::count($fields, 'maxAttempts'),
            $text('lastError'),
            self::headers($fields),
            self::seal($fields),
            $text('extras'),
        );
    }

    /** @param array<string, mixed> $fields */
    private static function text(array $fields, string $name): ?string
    {
        $text = $fields[$name] ?? null;
        if ($text === null && is_string($fields[$name . 'Base64'] ?? null)) {
            $text = base64_decode($fields[$name . 'Base64'], true);
        }

        return $text === null || is_string($text) ? $text : throw self::missing($name);
    }

    /** @param array<string, mixed> $fields */
    private static function number(array $fields, string $name): float
    {
        $number = $fields[$name] ?? null;

        return is_int($number) || (is_float($number) && is_finite($number)) ? (float) $number : throw self::missing($name);
    }

    /** @param array<string, mixed> $fields */
    private static function count(array $fields, string $name): int
    {
        $count = $fields[$name] ?? null;

        return is_int($count) && $count >= 0 ? $count : throw self::missing($name);
    }

    /**
     * @param array<string, mixed> $fields
     *
     * @return array<string> none in a line without this member
     */
    private static function headers(array $fields): array
    {
        $headers = $fields['headers'] ?? [];

        return is_array($headers) && array_filter($headers, is_string(...)) === $headers ? $headers : throw self::missing('headers');
    }

    /**
     * @param array<string, mixed> $fields
     *
     * @return array{alg: string, key: string, tag: string}|null
     */
    private static function seal(array $fields): ?array
    {
        $seal = $fields['seal'] ?? null;
        if ($seal === null) {
            return null;
        }
        $isSeal = is_array($seal) && array_filter($seal, is_string(...)) === $seal && array_diff(['alg', 'key', 'tag'], array_keys($seal)) === [];

        return $isSeal && count($seal) === 3 ? $seal : throw self::missing('seal');
    }

    private static function backoff(string $text): Backoff
    {
        try {
            return Backoff::parse($text);
        } catch (ValueError) {
            throw self::missing('backoff');
        }
    }

    private static function missing(string $name): UnexpectedValueException
    {
        return new UnexpectedValueException("no usable \"$name\"");
    }
}
