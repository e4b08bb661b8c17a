<?php

declare(strict_types=1);

namespace DelayQueue\Laravel;

use DateInterval;
use DateTimeInterface;
use DelayQueue;
use DelayQueue\Internal\ExactJson;
use DelayQueue\Internal\StartBy;
use DelayQueue\NewJob;
use DelayQueue\OnDuplicate;
use DelayQueue\OnExpiry;

/** A payload of Laravel on its way into the queue. */
final class OutgoingJob
{
    /** Wishes that are not stored with the job: a retry of it does not ask whether its own id is taken, and has all the time. */
    private const OF_A_DISPATCH = ['unique' => 1, 'maxWait' => 1, 'expires' => 1, 'onExpiry' => 1];

    /** Properties of a DelayQueue\NewJob for which Laravel has words of its own. */
    private const OF_LARAVEL = ['payload' => 1, 'delay' => 1, 'maxAttempts' => 1, 'backoff' => 1, 'timeout' => 1, 'retryUntil' => 1];

    private function __construct(
        /** By the names that DelayQueue\NewJob has, but for the delay. */
        private readonly array $parameters,
        private readonly DateTimeInterface|DateInterval|int|float|string|null $delay,
        private readonly DelayQueue $queue,
        /** The id is one of the user's own, not the payload's uuid. */
        public readonly bool $isIdentified,
        public readonly OnDuplicate $onDuplicate,
        public readonly ?string $uuid,
    ) {
    }

    /** @param array{id?: string, onDuplicate?: string|OnDuplicate, priority?: int, ttr?: int|float, ...} $options before those in the payload */
    public static function of(
        string $payload,
        DateTimeInterface|DateInterval|int|float|string|null $delay,
        array $options,
        Settings $settings,
        DelayQueue $queue,
    ): self {
        $decoded = json_decode($payload, true);
        $decoded = is_array($decoded) ? $decoded : [];
        $wishes = is_array($decoded['delayqueue'] ?? null) ? $decoded['delayqueue'] : [];
        $options += $wishes;
        if (array_intersect_key($wishes, self::OF_A_DISPATCH) !== []) {
            $exact = ExactJson::decode($payload);
            $exact->delayqueue = array_diff_key($wishes, self::OF_A_DISPATCH);
            $payload = ExactJson::encode($exact, JSON_UNESCAPED_UNICODE);
        }
        $uuid = is_string($decoded['uuid'] ?? null) && $decoded['uuid'] !== '' ? $decoded['uuid'] : null;
        $onDuplicate = $options['onDuplicate'] ?? OnDuplicate::Fail;
        $timeout = max(0, (int) ($decoded['timeout'] ?? 0));
        $wanted = array_diff_key(array_intersect_key($options, get_class_vars(NewJob::class)), self::OF_LARAVEL);
        $parameters = [
            'payload' => $payload,
            'id' => $options['id'] ?? $uuid,
            'ttr' => $options['ttr'] ?? self::lease($timeout, $settings),
            'timeout' => $timeout,
            'headers' => (isset($options['expires']) ? self::expiry($options) : []) + ($options['headers'] ?? []),
        ] + array_diff_key($wanted, ['onDuplicate' => 1, 'expires' => 1, 'onExpiry' => 1]);

        return new self(
            $parameters,
            $delay,
            $queue,
            isset($options['id']),
            $onDuplicate instanceof OnDuplicate ? $onDuplicate : OnDuplicate::from($onDuplicate),
            $uuid,
        );
    }

    /** The bytes that are stored. */
    public function payload(): string
    {
        return $this->parameters['payload'];
    }

    /** For the first try. Keep is asked for as Fail, because the extension does not say that it has kept another job. */
    public function parameters(): array
    {
        return $this->firstTry() + $this->now();
    }

    public function replacing(): array
    {
        return ['onDuplicate' => OnDuplicate::Replace] + $this->now();
    }

    public function underAnotherId(): array
    {
        return ['id' => null, 'unique' => null, 'maxWait' => null] + $this->now();
    }

    /** For a row, of which nobody hears later that its id was taken: it is kept out then, but for a retry of a job that lies buried. */
    public function forRow(bool $replaces = false): array
    {
        $replaces = $replaces || $this->onDuplicate === OnDuplicate::Replace;

        return ['onDuplicate' => $replaces ? OnDuplicate::Replace : OnDuplicate::Keep] + $this->forOutbox();
    }

    /** Without a question to Redis, which may be away: what should have run already is due now. */
    public function forOutbox(): array
    {
        return ['delay' => max(0, Delay::inSeconds($this->delay))] + $this->firstTry() + $this->parameters;
    }

    /** Its id stays taken for some time, whatever becomes of it. */
    public function takesItsId(): bool
    {
        return isset($this->parameters['unique']);
    }

    /** Null: the extension makes one. */
    public function id(): ?string
    {
        return $this->parameters['id'];
    }

    private function firstTry(): array
    {
        return ['onDuplicate' => $this->onDuplicate === OnDuplicate::Replace ? OnDuplicate::Replace : OnDuplicate::Fail];
    }

    /** Each try of a push has the delay that is left. */
    private function now(): array
    {
        return ['delay' => Delay::of($this->delay, $this->queue)] + $this->parameters;
    }

    /**
     * The header of a job that must be started in time.
     *
     * @param array<string, mixed> $options
     *
     * @return array<string, string>
     */
    private static function expiry(array $options): array
    {
        $wish = $options['onExpiry'] ?? OnExpiry::Bury;
        $onExpiry = $wish instanceof OnExpiry ? $wish : OnExpiry::tryFrom($wish) ?? OnExpiry::Bury;
        $method = Identified::class . '::expiringAfter';

        return StartBy::header($options['expires'], $onExpiry, $method, 'Argument #1 ($after)');
    }

    /** Without a heartbeat a lease has to outlast its job. Null: the connection's. */
    private static function lease(int $timeout, Settings $settings): int|float|null
    {
        return !$settings->heartbeat && $timeout >= $settings->retryAfter ? $timeout + 10 : null;
    }
}
