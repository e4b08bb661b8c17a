<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony;

use DelayQueue\Tests\Symfony\App\Work;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Transport\Serialization\SerializerInterface;

/** Bodies that are no text, as igbinary makes them. */
final class BytesSerializer implements SerializerInterface
{
    public function decode(array $encodedEnvelope): Envelope
    {
        return new Envelope(new Work($encodedEnvelope['body']));
    }

    public function encode(Envelope $envelope): array
    {
        return ['body' => $envelope->getMessage()->name];
    }
}
