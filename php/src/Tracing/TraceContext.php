<?php

declare(strict_types=1);

namespace DelayQueue\Tracing;

/**
 * A place in a trace, as the headers of W3C Trace Context (Level 2) carry it.
 *
 * @internal
 */
final class TraceContext
{
    public const PARENT = 'traceparent';
    public const STATE = 'tracestate';

    /** Version, trace, span, flags. Versions to come may have more behind them. */
    private const PARENT_FORM = '/^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/D';

    /** A key, and a value that ends with no space. */
    private const MEMBER_FORM = '~^[a-z0-9][a-z0-9_*/@-]{0,255}=[ -+\--<>-\~]{0,255}[!-+\--<>-\~]$~D';

    private const MOST_MEMBERS = 32;

    /** So much of a state has to be passed on. More would crowd out the other headers of a job. */
    private const LONGEST_STATE = 512;

    private const SAMPLED = 0x01;
    private const RANDOM = 0x02;
    private const KNOWN_FLAGS = self::SAMPLED | self::RANDOM;

    public function __construct(public readonly string $traceId, public readonly string $spanId, public readonly int $flags, public readonly string $state = '')
    {
    }

    /** Null where the parent is missing or none. A state that is none is left out. */
    public static function parse(?string $parent, ?string $state): ?self
    {
        if (preg_match(self::PARENT_FORM, trim((string) $parent, " \t"), $part) !== 1 || ($part[1] === '00' && isset($part[5]))) {
            return null;
        }

        return new self($part[2], $part[3], hexdec($part[4]) & self::KNOWN_FLAGS, self::state((string) $state));
    }

    /** A new one. It counts as sampled, so that services behind this one record what they do in it. */
    public static function make(): self
    {
        return new self(bin2hex(random_bytes(16)), bin2hex(random_bytes(8)), self::SAMPLED | self::RANDOM);
    }

    /** @return array{traceparent: string, tracestate?: string} */
    public function headers(): array
    {
        $parent = [self::PARENT => sprintf('00-%s-%s-%02x', $this->traceId, $this->spanId, $this->flags & self::KNOWN_FLAGS)];

        return $this->state === '' ? $parent : $parent + [self::STATE => $this->state];
    }

    private static function state(string $text): string
    {
        $members = [];
        foreach (explode(',', $text) as $member) {
            $member = trim($member, " \t");
            if ($member === '') {
                continue;
            }
            if (preg_match(self::MEMBER_FORM, $member) !== 1) {
                return '';
            }
            $members[strstr($member, '=', true)] ??= $member;
        }

        return count($members) > self::MOST_MEMBERS ? '' : self::shortened(array_values($members));
    }

    /**
     * Without its long members first, then without its last ones: the order of the specification.
     *
     * @param list<string> $members
     */
    private static function shortened(array $members): string
    {
        foreach ([128, 0] as $length) {
            for ($last = count($members) - 1; $last >= 0 && strlen(implode(',', $members)) > self::LONGEST_STATE; $last--) {
                if (strlen($members[$last]) > $length) {
                    array_splice($members, $last, 1);
                }
            }
        }

        return implode(',', $members);
    }
}
