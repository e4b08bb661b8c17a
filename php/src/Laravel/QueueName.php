<?php

declare(strict_types=1);

namespace DelayQueue\Laravel;

use UnitEnum;

/**
 * Laravel names queues freely, the extension in [A-Za-z0-9._:-]. Any other byte becomes `..` and two hexadecimal digits, and so does a
 * dot after a dot, by which each name has one form and each form one name.
 */
final class QueueName
{
    /** The name of an enum's case; any other name as it is. */
    public static function of(string|UnitEnum|null $queue): ?string
    {
        return $queue instanceof UnitEnum ? (string) ($queue->value ?? $queue->name) : $queue;
    }

    public static function encode(string $name): string
    {
        $escape = static fn (array $found): string => sprintf('..%02x', ord($found[0]));

        return (string) preg_replace_callback('/[^A-Za-z0-9._:-]|(?<=\.)\./', $escape, $name);
    }

    public static function decode(string $name): string
    {
        return (string) preg_replace_callback('/\.\.([0-9a-f]{2})/', static fn (array $found): string => chr((int) hexdec($found[1])), $name);
    }
}
