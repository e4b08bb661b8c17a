<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Transport;

use Closure;
use DelayQueue;
use DelayQueue\Internal\Sealed;
use DelayQueue\Job;
use DelayQueue\Symfony\Stamp\GroupStamp;
use DelayQueue\Symfony\Stamp\HeldStamp;
use JsonException;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Exception\MessageDecodingFailedException;
use Symfony\Component\Messenger\Exception\TransportException;
use Symfony\Component\Messenger\Stamp\TransportMessageIdStamp;
use Symfony\Component\Messenger\Transport\Serialization\SerializerInterface;

/**
 * A job's bytes: {"body": …, "headers": …}, as Messenger's Redis transport stores them. A body that is not UTF-8,
 * which JSON cannot hold, is kept in base64, and a member "encoding" says so; of such headers names and values are, and
 * "headerEncoding" says so. "class" is that of the message, for those who only look.
 *
 * @internal
 */
final class Codec
{
    private const JSON = JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_PRESERVE_ZERO_FRACTION;

    public function __construct(private readonly SerializerInterface $serializer)
    {
    }

    /** @throws TransportException when the serializer gives what cannot be stored */
    public function encode(Envelope $envelope): string
    {
        $encoded = $this->serializer->encode($envelope);
        $stored = ['body' => $encoded['body'] ?? null, 'headers' => $encoded['headers'] ?? []];
        $cannot = 'Cannot send a message of class ' . $envelope->getMessage()::class;
        if (!is_string($stored['body']) || !is_array($stored['headers'])) {
            [$what, $value, $type] = is_string($stored['body'])
                ? ['headers', $stored['headers'], 'an array']
                : ['a body', $stored['body'], 'a string'];
            $given = get_debug_type($value);
            throw new TransportException("$cannot: its serializer gave $what of type $given, not $type.");
        }
        $stored['class'] = $envelope->getMessage()::class;
        $bytes = json_encode($stored, self::JSON);
        if ($bytes !== false) {
            return $bytes;
        }
        $stored = ['body' => base64_encode($stored['body']), 'encoding' => 'base64'] + $stored;
        if (json_encode($stored['headers']) === false) {
            $headers = self::mapped($stored['headers'], base64_encode(...));
            $stored = ['headers' => $headers, 'headerEncoding' => 'base64'] + $stored;
        }
        try {
            return json_encode($stored, self::JSON | JSON_THROW_ON_ERROR);
        } catch (JsonException $error) {
            $why = "the headers of its serializer cannot be stored: {$error->getMessage()}";
            throw new TransportException("$cannot: $why.", 0, $error);
        }
    }

    /**
     * The bytes of a stored message as its serializer decodes them.
     *
     * @throws MessageDecodingFailedException
     */
    public function envelope(string $bytes): Envelope
    {
        return $this->serializer->decode($this->unpack($bytes));
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

    /**
     * What names the class of a message for the counters of tasks().
     *
     * @return (Closure(Job): ?string)|null null: nobody else may read it
     */
    public static function classOf(DelayQueue $queue): ?Closure
    {
        return Sealed::hidesPayloads($queue) ? null : static function (Job $job): ?string {
            $class = json_decode($job->body, true)['class'] ?? null;

            return is_string($class) ? $class : null;
        };
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

        $headers = is_array($stored['headers'] ?? null) ? $stored['headers'] : [];
        if (($stored['headerEncoding'] ?? null) === 'base64') {
            $headers = self::mapped($headers, static fn (string $text): string => (string) base64_decode($text));
        }

        return ['body' => $stored['body'], 'headers' => $headers];
    }

    /**
     * @param array<array-key, mixed> $headers
     * @param Closure(string): string $map of each name, and of each value that is a string
     *
     * @return array<array-key, mixed>
     */
    private static function mapped(array $headers, Closure $map): array
    {
        $mapped = [];
        foreach ($headers as $name => $value) {
            $mapped[$map((string) $name)] = is_string($value) ? $map($value) : $value;
        }

        return $mapped;
    }
}
