<?php

declare(strict_types=1);

namespace DelayQueue\Http;

use InvalidArgumentException;
use SensitiveParameter;

/**
 * Proves to a receiver that a notification comes from whoever shares its secret, unchanged and just now.
 *
 *     DelayQueue-Job: order-4711
 *     DelayQueue-Signature: t=1700000000,v1=5257a869…,v1=6ffbb59b…
 *
 * t is the time of sending in Unix seconds. Each v1 is the hex HMAC-SHA256, under one secret, of t, the DelayQueue-Job header
 * and the body, with a newline after each of the first two: the id is signed, because receivers know repetitions by it.
 *
 * To change the secret without losing a notification: first verify with both, then sign with the new one, then drop the old.
 */
final class Signature implements Signer
{
    public const HEADER = 'DelayQueue-Signature';

    /** @var list<non-empty-string> */
    private readonly array $secrets;

    /**
     * @param string|list<string> $secrets several sign one after the other, for receivers that know one of them
     *
     * @throws InvalidArgumentException if one is empty
     */
    public function __construct(#[SensitiveParameter] string|array $secrets)
    {
        $this->secrets = self::checked((array) $secrets);
    }

    public function headers(string $id, string $body, int $time): array
    {
        return [self::HEADER => $this->sign($id, $body, $time)];
    }

    /**
     * The value of the header.
     *
     * @param string $id the DelayQueue-Job header
     * @param int $time Unix seconds
     */
    public function sign(string $id, string $body, int $time): string
    {
        $parts = array_map(
            static fn (string $secret): string => 'v1=' . self::hash($id, $body, $time, $secret),
            $this->secrets,
        );

        return implode(',', ["t=$time", ...$parts]);
    }

    /**
     * For the receiver: whether the header was made with one of these secrets for this id and body, less than $tolerance
     * seconds ago (or ahead, for clocks that disagree). The same notification may come again within that time: whether it
     * was handled already, the receiver knows by its id.
     *
     * @param string $header the DelayQueue-Signature header; '' if there is none
     * @param string $id the DelayQueue-Job header
     * @param string $body as it was received, not decoded and encoded again
     * @param string|list<string> $secrets
     * @param int $tolerance seconds
     * @param int|null $now Unix seconds; null: time()
     *
     * @throws InvalidArgumentException if there is no secret, or an empty one
     */
    public static function verify(
        string $header,
        string $id,
        string $body,
        #[SensitiveParameter] string|array $secrets,
        int $tolerance = 300,
        ?int $now = null,
    ): bool {
        $secrets = self::checked((array) $secrets);
        if (!preg_match('/^t=(\d{1,12})((?:,v1=[0-9a-f]{64}){1,10})$/D', $header, $match)) {
            return false;
        }
        $time = (int) $match[1];
        $given = explode(',v1=', substr($match[2], strlen(',v1=')));
        $isGenuine = false;
        foreach ($secrets as $secret) {
            foreach ($given as $hash) {
                $isGenuine = hash_equals(self::hash($id, $body, $time, $secret), $hash) || $isGenuine;
            }
        }

        return $isGenuine && abs(($now ?? time()) - $time) <= $tolerance;
    }

    private static function hash(string $id, string $body, int $time, #[SensitiveParameter] string $secret): string
    {
        return hash_hmac('sha256', "$time\n$id\n$body", $secret);
    }

    /**
     * @param array<string> $secrets
     *
     * @return list<non-empty-string>
     */
    private static function checked(#[SensitiveParameter] array $secrets): array
    {
        if ($secrets === [] || in_array('', $secrets, true)) {
            throw new InvalidArgumentException('a signature needs a secret that is not empty');
        }

        return array_values($secrets);
    }
}
