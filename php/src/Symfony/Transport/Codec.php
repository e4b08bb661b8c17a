<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Transport;

use DelayQueue\Symfony\Stamp\GroupStamp;
use DelayQueue\Symfony\Stamp\HeldStamp;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Exception\MessageDecodingFailedException;
use Symfony\Component\Messenger\Stamp\TransportMessageIdStamp;
use Symfony\Component\Messenger\Transport\Serialization\SerializerInterface;

/**
 * A job's bytes: {"body": …, "headers": …}, as Messenger's Redis transport stores them. A body that is not UTF-8, which JSON cannot hold,
 * is kept in base64, and a member "encoding" says so.
 *
 * @internal
 */
final class Codec
{
    private const JSON = JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES;

    public function __construct(private readonly SerializerInterface $serializer)
    {
    }

    public function encode(Envelope $envelope): string
    {
        $encoded = $this->serializer->encode($envelope);
        $stored = ['body' => $encoded['body'], 'headers' => $encoded['headers'] ?? []];
        $bytes = json_encode($stored, self::JSON);
        if ($bytes !== false) {
            return $bytes;
        }

        return json_encode(['body' => base64_encode($stored['body']), 'encoding' => 'base64'] + $stored, self::JSON | JSON_THROW_ON_ERROR);
    }

    /**
     * @throws MessageDecodingFailedException before Messenger 8.1; from there on the envelope's message says it, so that retries and the
     *     failure transport have it
     */
    public function received(string $bytes, HeldStamp $stamp): Envelope
    {
        $encoded = $this->unpack($bytes);
        try {
            $envelope = $this->serializer->decode($encoded);
        } catch (MessageDecodingFailedException $error) {
            if (!method_exists($error, 'wrap')) {
                throw $error;
            }
            $envelope = $error::wrap($encoded, $error->getMessage(), $error->getCode(), $error);
        }

        $envelope = $envelope->withoutAll(TransportMessageIdStamp::class)->with($stamp, new TransportMessageIdStamp($stamp->id));

        return $stamp->group === null ? $envelope : $envelope->with(new GroupStamp($stamp->group));
    }

    /** @return array<string, mixed> what the serializer decodes; of bytes in another form the body is all of them */
    private function unpack(string $bytes): array
    {
        $stored = json_decode($bytes, true);
        if (!is_array($stored) || !is_string($stored['body'] ?? null)) {
            return ['body' => $bytes, 'headers' => []];
        }
        if (($stored['encoding'] ?? null) === 'base64') {
            $stored['body'] = (string) base64_decode($stored['body']);
        }

        return ['body' => $stored['body'], 'headers' => is_array($stored['headers'] ?? null) ? $stored['headers'] : []];
    }
}
