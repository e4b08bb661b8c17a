<?php

declare(strict_types=1);

namespace DelayQueue\Http;

use InvalidArgumentException;
use SensitiveParameter;

/**
 * Signs notifications by the Standard Webhooks specification 1.0 (standardwebhooks.com), for receivers that verify them with one of its libraries:
 *
 *     new Notifier(hosts: ['shop.example'], signer: new StandardWebhooks('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'));
 *
 * webhook-id is the id of the job and webhook-timestamp the time of sending in Unix seconds. webhook-signature has a v1 for each secret, with a
 * space between them: the base64 HMAC-SHA256 of both and the body, joined by dots.
 */
final class StandardWebhooks implements Signer
{
    private const PREFIX = 'whsec_';

    /** @var non-empty-list<string> */
    private readonly array $keys;

    /**
     * @param string|list<string> $secrets 'whsec_' and 24 to 64 bytes in base64; several sign one after the other, while a receiver changes its own
     *
     * @throws InvalidArgumentException if there is none, or one has another form
     */
    public function __construct(#[SensitiveParameter] string|array $secrets)
    {
        if ($secrets === []) {
            throw new InvalidArgumentException('Standard Webhooks need a secret');
        }
        $this->keys = array_map(self::key(...), array_values((array) $secrets));
    }

    public function headers(string $id, string $body, int $time): array
    {
        $sign = static fn (string $key): string => 'v1,' . base64_encode(hash_hmac('sha256', "$id.$time.$body", $key, true));

        return ['webhook-id' => $id, 'webhook-timestamp' => (string) $time, 'webhook-signature' => implode(' ', array_map($sign, $this->keys))];
    }

    private static function key(#[SensitiveParameter] string $secret): string
    {
        $key = str_starts_with($secret, self::PREFIX) ? base64_decode(substr($secret, strlen(self::PREFIX)), true) : false;
        if ($key === false || strlen($key) < 24 || strlen($key) > 64) {
            throw new InvalidArgumentException("a secret of Standard Webhooks is '" . self::PREFIX . "' and 24 to 64 bytes in base64");
        }

        return $key;
    }
}
