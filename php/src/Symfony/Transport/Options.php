<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Transport;

use DelayQueue;
use DelayQueue\Internal\Nearest;
use DelayQueue\InvalidArgument;
use Symfony\Component\Messenger\Exception\InvalidArgumentException;
use ValueError;

/**
 * Makes a transport's settings of its DSN and its options; an option of the DSN's query goes before one of the same name.
 *
 * @internal
 */
final class Options
{
    /** Names here and in new DelayQueue(). */
    private const OF_QUEUE = [
        'prefix' => 'prefix', 'ttr' => 'ttr', 'max_attempts' => 'maxAttempts', 'priority' => 'priority', 'max_payload' => 'maxPayload',
        'connect_timeout' => 'connectTimeout', 'read_timeout' => 'readTimeout', 'persistent' => 'persistent',
        'durability' => 'durability', 'replicas' => 'replicas', 'partitions' => 'partitions', 'keys' => 'keys', 'signed' => 'signed',
    ];

    private const OF_TRANSPORT = ['queue', 'heartbeat', 'bury_on_reject', 'prefetch'];

    /** Not in a DSN: when the container is compiled, DBAL's connection is prepared for it. */
    private const OUTBOX = 'outbox';

    /** A message may be large, and base64 of a serialized object is half as large again. */
    private const MAX_PAYLOAD = 16 * 1024 * 1024;

    /**
     * @param array<string, mixed> $options the transport's, transport_name included
     * @param array<string, mixed> $defaults of all transports
     *
     * @throws InvalidArgumentException when an option is unknown, or of a wrong value; it names the transport
     */
    public static function read(#[\SensitiveParameter] string $dsn, #[\SensitiveParameter] array $options, #[\SensitiveParameter] array $defaults = []): Settings
    {
        $name = $options['transport_name'] ?? null;
        unset($options['transport_name']);
        $inDsn = [...array_keys(self::OF_QUEUE), ...self::OF_TRANSPORT];
        $known = [...$inDsn, self::OUTBOX];
        try {
            [$own, $inQuery] = Dsn::read($dsn, $inDsn);
            $all = $inQuery + $options + $defaults;
            $unknown = array_diff(array_keys($all), $known);
            if ($unknown !== []) {
                throw new InvalidArgumentException(sprintf('There is no option "%s"; there are %s.', implode('", "', $unknown), implode(', ', $known)));
            }

            return self::settings($own, $all, $name);
        } catch (InvalidArgumentException | ValueError | \TypeError $error) {
            $which = $name === null ? 'a delayqueue transport' : "the transport \"$name\"";
            $isOfDsn = $error instanceof InvalidArgument && $error->parameter === 'dsn';
            $why = $error->getMessage() . ($isOfDsn ? self::meant($dsn, $inDsn) : '');
            throw new InvalidArgumentException("Cannot make $which: $why", 0, $error);
        }
    }

    /**
     * The extension names the options that its own DSN has; that of a transport has more.
     *
     * @param list<string> $inDsn
     */
    private static function meant(#[\SensitiveParameter] string $dsn, array $inDsn): string
    {
        parse_str(explode('?', $dsn, 2)[1] ?? '', $given);
        $others = array_map(strval(...), array_keys(array_diff_key($given, array_flip($inDsn))));
        $near = array_merge(...array_map(static fn (string $option): array => Nearest::of($option, $inDsn), $others));

        return match (true) {
            $others === [] => '',
            $near !== [] => '; did you mean ' . implode(' or ', $near) . ' of the transport?',
            default => '; and of the transport ' . implode(', ', $inDsn),
        };
    }

    /** @param array<string, mixed> $all */
    private static function settings(?string $dsn, array $all, ?string $name): Settings
    {
        $queue = ['format' => 'raw', 'maxPayload' => self::MAX_PAYLOAD];
        foreach (self::OF_QUEUE as $option => $parameter) {
            if (isset($all[$option])) {
                $queue[$parameter] = self::typed($option, $all[$option]);
            }
        }
        $heartbeat = $all['heartbeat'] ?? true;
        if (is_string($heartbeat) && !is_numeric($heartbeat)) {
            $heartbeat = self::boolean('heartbeat', $heartbeat);
        } elseif (!is_bool($heartbeat)) {
            $heartbeat = (float) $heartbeat > 1.0 ? (float) $heartbeat : (bool) (int) $heartbeat;
        }
        $settings = new Settings(
            $dsn,
            (string) ($all['queue'] ?? $name ?? 'default'),
            $queue,
            $heartbeat,
            self::boolean('bury_on_reject', $all['bury_on_reject'] ?? false),
            max(1, (int) self::number('prefetch', $all['prefetch'] ?? 1)),
            self::name(self::OUTBOX, $all[self::OUTBOX] ?? null),
        );
        new DelayQueue($settings->queue, $settings->dsn, $settings->queueOptions); // throws ValueError for what is wrong, and connects to nothing

        return $settings;
    }

    /** Values of a query are strings. */
    private static function typed(string $option, mixed $value): mixed
    {
        return match ($option) {
            'max_attempts', 'priority', 'max_payload', 'partitions', 'replicas' => (int) self::number($option, $value),
            'connect_timeout', 'read_timeout' => self::number($option, $value) + 0,
            'persistent', 'signed' => self::boolean($option, $value),
            default => $value,
        };
    }

    private static function number(string $option, mixed $value): int|float|string
    {
        return is_numeric($value) ? $value : throw new InvalidArgumentException("The option \"$option\" must be a number.");
    }

    private static function name(string $option, mixed $value): ?string
    {
        return $value === null || is_string($value) && $value !== '' ? $value : throw new InvalidArgumentException("The option \"$option\" must be a name.");
    }

    private static function boolean(string $option, mixed $value): bool
    {
        return filter_var($value, FILTER_VALIDATE_BOOL, FILTER_NULL_ON_FAILURE)
            ?? throw new InvalidArgumentException("The option \"$option\" must be true or false.");
    }
}
