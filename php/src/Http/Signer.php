<?php

declare(strict_types=1);

namespace DelayQueue\Http;

/** A scheme by which a receiver knows the sender of a notification. */
interface Signer
{
    /**
     * The headers that prove it.
     *
     * @param string $id the DelayQueue-Job header
     * @param string $body the bytes of the request
     * @param int $time of sending, Unix seconds
     *
     * @return array<string, string> values by names
     */
    public function headers(string $id, string $body, int $time): array;
}
