<?php

declare(strict_types=1);

namespace DelayQueue\Http;

use Closure;
use DelayQueue;
use DelayQueue\Bury;
use DelayQueue\Job;
use DelayQueue\Release;
use InvalidArgumentException;
use SensitiveParameter;
use Symfony\Contracts\HttpClient\HttpClientInterface;

/**
 * A handler for DelayQueue::consume() and drain() that posts each job to its URL, until the receiver has accepted it:
 *
 *     $queue->push(['url' => 'https://shop.example/paid', 'body' => ['order' => 4711]], ...Schedule::stages());
 *
 *     $queue->consume(new Notifier(hosts: ['shop.example'], secrets: [$secret]));
 *
 * Of the receiver's answer the status counts, and the body where $accepts looks at it:
 *
 * - 2xx: done, unless $accepts says otherwise of the body.
 * - 429 or 503 with Retry-After: again after that time, instead of the schedule's. It was an attempt like others; on the last
 *   one the job is buried.
 * - 410 Gone: buried at once.
 * - anything else, also a redirect, and no answer at all: a failed attempt. The job comes back on its schedule (see Schedule)
 *   and is buried when no attempt is left.
 *
 * A job whose URL is malformed or not allowed, or leads to an address that is not public, is buried at once. Buried jobs wait,
 * with the reason in lastError, for kick(). Reasons name scheme, host and port of a URL, never its path or query.
 *
 * Beside Content-Type, a request has these headers: DelayQueue-Job, the job's id percent-encoded where a header needs it, by
 * which a receiver knows what comes twice; DelayQueue-Attempt, from 1; and those of the signature, see Signature and
 * StandardWebhooks. An id that is used again for another message is, to a receiver, the same message again.
 *
 * Connections go straight to the receiver, past any proxy in the environment. Use ext-curl: without it, $maxDuration holds only
 * once the receiver has sent its headers, and one that never stops sending headers is left to the timeout of consume(). The
 * look-up of a name is not limited by either: that is the system's resolver.
 */
final class Notifier
{
    private const GONE = 410;

    private readonly Receivers $receivers;

    private readonly Addresses $addresses;

    private readonly Sender $sender;

    private readonly ?Signer $signer;

    private readonly Closure $message;

    private readonly ?Closure $accepts;

    /**
     * @param list<string> $hosts that may be notified: 'example.com', '*.example.com' (every name below it, not itself), '*'
     *        (every public host); on the scheme's own port, or on the port that is said: 'example.com:8443'
     * @param string|list<string> $secrets that requests are signed with by {@see Signature}; none: not signed
     * @param bool $allowHttp http:// beside https://
     * @param list<string> $privateNetworks that may be reached though they are not public: '10.1.0.0/16', '127.0.0.1'
     * @param float $timeout seconds without any byte from the receiver
     * @param float $maxDuration seconds of one attempt as a whole
     * @param int $maxRetryAfter seconds; a Retry-After of more counts as this
     * @param HttpClientInterface|null $client with further options, such as 'cafile'; null: HttpClient::create()
     * @param (callable(Job): Message)|null $message what to post; null: {@see Message::ofJob()}
     * @param (callable(string): array<string>)|null $resolver the addresses of a host name; null: the system's
     * @param array<string, string>|(Closure(Job): array<string, string>) $headers further ones, values by names, such as ['Authorization' =>
     *        'Bearer …']. They do not replace those above, but for Content-Type and User-Agent
     * @param (callable(string, int): bool)|null $accepts whether an answer of 2xx with such a body (its first 64 KiB) and status means success, for
     *        receivers that answer 200 "fail"; null: each does
     * @param Signer|null $signer another scheme than that of $secrets, such as {@see StandardWebhooks}
     *
     * @throws InvalidArgumentException if a host, secret, network, time or header cannot be meant
     */
    public function __construct(
        array $hosts,
        #[SensitiveParameter] string|array $secrets = [],
        bool $allowHttp = false,
        array $privateNetworks = [],
        float $timeout = 10.0,
        float $maxDuration = 30.0,
        private readonly int $maxRetryAfter = 86_400,
        ?HttpClientInterface $client = null,
        ?callable $message = null,
        ?callable $resolver = null,
        #[SensitiveParameter] private readonly array|Closure $headers = [],
        ?callable $accepts = null,
        ?Signer $signer = null,
    ) {
        if ($signer !== null && $secrets !== []) {
            throw new InvalidArgumentException('requests are signed with $secrets or by a $signer, not both');
        }
        $this->receivers = new Receivers($hosts, $allowHttp);
        $this->addresses = new Addresses($privateNetworks, $resolver);
        $this->sender = new Sender($client, $timeout, $maxDuration);
        $this->signer = $secrets === [] ? $signer : new Signature($secrets);
        $this->accepts = $accepts === null ? null : $accepts(...);
        is_array($headers) && self::checked($headers);
        $this->message = ($message ?? Message::ofJob(...))(...);
    }

    /**
     * @throws DeliveryFailed if this attempt failed
     * @throws Release if the receiver wants to be asked later
     * @throws Bury if no attempt can succeed
     */
    public function __invoke(Job $job): void
    {
        $message = ($this->message)($job);
        [$endpoint, $answer] = $this->send($message, $job->id, $job->attempts, $job);
        if ($answer->isAccepted($this->accepts)) {
            return;
        }
        $reason = "{$endpoint->origin()} {$answer->reason()}";
        if ($answer->status === self::GONE) {
            throw new Bury($reason);
        }
        $retryAfter = $answer->retryAfter();
        // Released jobs are never buried: the last attempt has to fail.
        if ($retryAfter !== null && ($job->maxAttempts === 0 || $job->attempts < $job->maxAttempts)) {
            throw new Release(min($retryAfter, $this->maxRetryAfter), $reason);
        }
        throw new DeliveryFailed($reason);
    }

    /**
     * Posts once, without a job and a queue: for messages that have to go out also while Redis is away.
     *
     * @param non-empty-string $id in place of the job's
     * @param positive-int $attempt
     *
     * @throws DeliveryFailed if the receiver has not accepted it
     * @throws Bury if the URL is not accepted
     * @throws InvalidArgumentException if $headers need a job
     */
    public function post(Message $message, string $id, int $attempt = 1): void
    {
        if (!is_array($this->headers)) {
            throw new InvalidArgumentException('there is no job for the $headers of this notifier: give them as an array');
        }
        [$endpoint, $answer] = $this->send($message, $id, $attempt, null);
        if (!$answer->isAccepted($this->accepts)) {
            throw new DeliveryFailed("{$endpoint->origin()} {$answer->reason()}");
        }
    }

    /** @return array{Endpoint, Answer} */
    private function send(Message $message, string $id, int $attempt, ?Job $job): array
    {
        $endpoint = $this->receivers->endpoint($message->url);
        $address = $this->addresses->of($endpoint, $attempt);

        return [$endpoint, $this->sender->post($endpoint, $address, $this->headers($message, $id, $attempt, $job), $message->body)];
    }

    /**
     * @param Job|null $job for the closure of $headers
     *
     * @return array<string, string>
     */
    private function headers(Message $message, string $id, int $attempt, ?Job $job): array
    {
        $id = (string) preg_replace_callback('/[^!-$&-~]/', static fn (array $byte): string => rawurlencode($byte[0]), $id);
        $own = ['DelayQueue-Job' => $id, 'DelayQueue-Attempt' => (string) $attempt];
        $own += $this->signer?->headers($id, $message->body, time()) ?? [];
        $further = is_array($this->headers) ? $this->headers : self::checked(($this->headers)($job));
        $headers = [];
        // The later ones win, however their names are written.
        foreach (['Content-Type' => $message->type, 'User-Agent' => 'delayqueue/' . DelayQueue::VERSION, ...$further, ...$own] as $name => $value) {
            $headers[strtolower($name)] = $value;
        }

        return $headers;
    }

    /**
     * @return array<string, string>
     *
     * @throws InvalidArgumentException if one cannot be sent; it does not repeat the value
     */
    private static function checked(#[SensitiveParameter] array $headers): array
    {
        foreach ($headers as $name => $value) {
            if (!is_string($name) || !preg_match("/^[!#$%&'*+.^_`|~0-9a-z-]+$/Di", $name) || !is_string($value) || preg_match('/[^\\t -~\\x80-\\xff]/', $value)) {
                throw new InvalidArgumentException("the header '" . addcslashes((string) $name, "\0..\37\177..\377") . "' is not one that can be sent");
            }
        }

        return $headers;
    }
}
