<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Transport;

use Symfony\Component\Messenger\Exception\InvalidArgumentException;

/**
 * Reads a transport's DSN: the extension's own, with delayqueue for redis, and with the transport's options in its query.
 *
 * @internal
 */
final class Dsn
{
    private const FORM = '~^delayqueue(s?)((?:\+(?:unix|sentinel|cluster|memory))?):(.*)$~Ds';

    public static function isOurs(#[\SensitiveParameter] string $dsn): bool
    {
        return preg_match(self::FORM, $dsn) === 1;
    }

    /**
     * @param list<string> $names of the options that are the transport's; the rest of the query stays in the DSN
     *
     * @return array{?string, array<string, mixed>} the extension's DSN, null for its default; the options in the query
     *
     * @throws InvalidArgumentException
     */
    public static function read(#[\SensitiveParameter] string $dsn, array $names): array
    {
        if (preg_match(self::FORM, $dsn, $parts) !== 1) {
            throw new InvalidArgumentException('A delayqueue transport needs a DSN that begins with delayqueue: or delayqueues:.');
        }
        [, $secure, $kind, $rest] = $parts;
        [$place, $query] = explode('?', $rest, 2) + [1 => ''];
        parse_str($query, $all);
        $own = array_intersect_key($all, array_flip($names));
        $others = http_build_query(array_diff_key($all, $own), '', '&', PHP_QUERY_RFC3986);
        if ($secure . $kind . trim($place, '/') === '' && $others === '') {
            return [null, $own];
        }

        $scheme = $secure . $kind === '+memory' ? 'memory' : "redis$secure$kind";

        return ["$scheme:$place" . ($others === '' ? '' : "?$others"), $own];
    }
}
