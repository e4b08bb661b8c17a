<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony;

use DelayQueue\Tests\Symfony\App\Work;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Transport\Serialization\SerializerInterface;

/** Bodies that are no text, as igbinary makes them, and headers of any kind. */
final class BytesSerializer implements SerializerInterface
{
    /** @var array<string, mixed> what was decoded last */
    public array $decoded = [];

    /** @param array<string, mixed> $more headers and the like */
    public function __construct(private readonly array $more = [])
    {
    }

    public function decode(array $encodedEnvelope): Envelope
    {
        $this->decoded = $encodedEnvelope;

        return new Envelope(new Work($encodedEnvelope['body']));
    }

    public function encode(Envelope $envelope): array
    {
        return $this->more + ['body' => $envelope->getMessage()->name];
    }
}
