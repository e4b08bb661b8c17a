<?php

declare(strict_types=1);

namespace DelayQueue\Http;

use InvalidArgumentException;
use LogicException;
use RuntimeException;
use Symfony\Component\HttpClient\HttpClient;
use Symfony\Contracts\HttpClient\Exception\TransportExceptionInterface;
use Symfony\Contracts\HttpClient\HttpClientInterface;

/**
 * Posts once: to the address it is told, following no redirect, and reading the beginning of the answer.
 *
 * @internal
 */
final class Sender
{
    /** Bytes of an answer; what is longer is not read to its end. */
    private const READ = 65_536;

    private readonly HttpClientInterface $client;

    /**
     * @param float $timeout seconds without any byte
     * @param float $maxDuration seconds from connecting to the last byte
     */
    public function __construct(
        ?HttpClientInterface $client,
        private readonly float $timeout,
        private readonly float $maxDuration,
    ) {
        if ($timeout <= 0 || $maxDuration <= 0) {
            throw new InvalidArgumentException("timeout and maxDuration must be greater than 0, $timeout and $maxDuration given");
        }
        if ($client === null && !class_exists(HttpClient::class)) {
            throw new LogicException('no HTTP client: install symfony/http-client (on Debian php-symfony-http-client and php-curl)');
        }
        $this->client = $client ?? HttpClient::create();
    }

    /**
     * @param string $address where $endpoint's host is, whatever its name gives by now
     * @param array<string, string> $headers
     *
     * @throws DeliveryFailed if there was no answer
     */
    public function post(Endpoint $endpoint, string $address, array $headers, string $body): Answer
    {
        $response = $status = null;
        $answered = [];
        $received = '';
        $deadline = microtime(true) + $this->maxDuration;
        try {
            $response = $this->client->request('POST', $endpoint->url(), [
                'headers' => $headers + ['Accept-Encoding' => 'identity'], // what is read is as long as it looks
                'body' => $body,
                'resolve' => $endpoint->address() === null ? [$endpoint->host => $address] : [],
                'no_proxy' => '*', // a proxy would resolve the name itself
                'max_redirects' => 0,
                'timeout' => $this->timeout,
                'max_duration' => $this->maxDuration,
                'buffer' => false,
                'on_progress' => self::guard($address),
            ]);
            foreach ($this->client->stream($response) as $chunk) {
                if ($chunk->isTimeout()) {
                    break;
                }
                if ($chunk->isFirst()) {
                    [$status, $answered] = [$response->getStatusCode(), $response->getHeaders(false)];
                }
                $received .= $chunk->getContent();
                // Not every transport minds max_duration while bytes are coming in.
                if (strlen($received) >= self::READ || microtime(true) > $deadline) {
                    break;
                }
            }
        } catch (TransportExceptionInterface $error) {
            // The status is what counts: an answer that breaks off later is one.
            if ($status === null) {
                // Not as its previous exception: that one names the whole URL, and would stand in the job's last error.
                throw new DeliveryFailed("{$endpoint->origin()}: " . self::words($error));
            }
        } finally {
            $response?->cancel();
        }
        if ($status === null) {
            throw new DeliveryFailed("{$endpoint->origin()}: no answer for $this->timeout s");
        }

        return new Answer($status, $answered, $received);
    }

    /**
     * Aborts when the client connects to another address: it might not know the option, or keep a connection to somewhere else.
     *
     * @return callable(int, int, array<string, mixed>): void
     */
    private static function guard(string $address): callable
    {
        return static function (int $now, int $size, array $info) use ($address): void {
            $connected = (string) ($info['primary_ip'] ?? '');
            if ($connected !== '' && inet_pton(trim($connected, '[]')) !== inet_pton($address)) {
                throw new RuntimeException("the HTTP client connected to $connected instead of $address");
            }
        };
    }

    /** The words of a transport without the URLs in them. */
    private static function words(TransportExceptionInterface $error): string
    {
        $words = (string) preg_replace(['/ for "[^"]*"/', '~[a-z]+://\S+~i'], ['', 'its URL'], $error->getMessage());

        return rtrim($words, '.');
    }
}
