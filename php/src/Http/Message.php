<?php

declare(strict_types=1);

namespace DelayQueue\Http;

use DelayQueue\Bury;
use DelayQueue\Internal\ExactJson;
use DelayQueue\Job;
use JsonException;

/** The body of a post, and its URL. */
final class Message
{
    /**
     * @param string $body the bytes of the request
     * @param string $type its Content-Type
     */
    public function __construct(
        public readonly string $url,
        public readonly string $body,
        public readonly string $type = 'application/octet-stream',
    ) {
    }

    /** @throws JsonException if it cannot be encoded */
    public static function json(string $url, mixed $body): self
    {
        return new self($url, ExactJson::encode($body), 'application/json');
    }

    /**
     * From a payload of one of two shapes: {url, body}, where body is sent as JSON with its numbers as they are stored
     * (without body: null), or {url, raw, type}, where the string raw is sent as it is (without type:
     * application/octet-stream).
     *
     * @throws Bury if it has another shape
     */
    public static function ofJob(Job $job): self
    {
        // Not $job->payload: there an empty object is an empty array.
        $payload = json_decode($job->body);
        $url = $payload->url ?? null;
        $raw = $payload->raw ?? '';
        $type = $payload->type ?? 'application/octet-stream';
        if (!is_string($url) || !is_string($raw) || !is_string($type) || !preg_match('/^[ -~]+$/D', $type)) {
            throw new Bury('the payload is neither {url, body} nor {url, raw, type}');
        }

        if (isset($payload->raw)) {
            return new self($url, $raw, $type);
        }

        return self::json($url, ExactJson::decode($job->body)->body ?? null);
    }
}
