<?php

declare(strict_types=1);

namespace DelayQueue\Console\Check;

use DelayQueue\Bury;
use DelayQueue\Console\UsageException;
use DelayQueue\Http\DeliveryFailed;
use DelayQueue\Http\Endpoint;
use DelayQueue\Http\Message;
use DelayQueue\Http\Notifier;
use InvalidArgumentException;

/** Posts what has changed since the last post that was accepted. */
final class Alerts
{
    /** An operator names the URL, and may mean a host of the own network. */
    private const EVERYWHERE = ['0.0.0.0/0', '::/0'];

    /** The name under which Redis itself changes. No queue has it. */
    private const REDIS = '';

    private readonly Notifier $notifier;

    /** The part of the URL without secrets. */
    public readonly string $origin;

    /** @var array<string, Level> what the receiver knows, by queue; those that it does not know are well */
    private array $known = [];

    /** @var array<array-key, array<string, Level>> what it may know as well, by queue: of posts whose answer was not that they are accepted */
    private array $doubted = [];

    /** @var list<array{queue: string|null, from: string, to: string}> the changes of the last post, unless it was accepted */
    private array $tried = [];

    /** Unix seconds of the first post. */
    private ?int $first = null;

    private int $number = 1;

    private int $attempt = 0;

    /**
     * @param string|null $secret signs the posts
     * @param array<string, mixed> $facts in each post
     *
     * @throws UsageException when the URL is none
     */
    public function __construct(
        #[\SensitiveParameter] private readonly string $url,
        #[\SensitiveParameter] ?string $secret = null,
        private readonly array $facts = [],
    ) {
        try {
            $endpoint = Endpoint::parse($url);
        } catch (InvalidArgumentException $error) {
            throw new UsageException("--alert-url is not accepted: {$error->getMessage()}");
        }
        $this->origin = $endpoint->origin();
        $this->notifier = new Notifier(
            hosts: ["$endpoint->host:$endpoint->port"],
            secrets: $secret ?? [],
            allowHttp: true,
            privateNetworks: self::EVERYWHERE,
            timeout: 5.0,
            maxDuration: 10.0,
        );
    }

    /**
     * @return bool whether there was something to post
     *
     * @throws DeliveryFailed|Bury when the receiver has not accepted it; then the next call posts what has changed by then
     */
    public function tell(Report $report, float $now): bool
    {
        $levels = self::levels($report) + ($report->failure === null ? [] : $this->known);
        $changes = $this->changes($levels);
        if ($changes === []) {
            return false;
        }
        $this->remember($changes, $levels);
        $body = ['text' => $report->line(), 'level' => $report->level->value, 'at' => $now, 'changes' => $changes, ...$this->facts, 'findings' => array_map(
            static fn (Finding $finding): array => $finding->toArray(), $report->passed(),
        )];
        $this->notifier->post(Message::json($this->url, $body), $this->id($now), ++$this->attempt);
        [$this->known, $this->attempt, $this->doubted, $this->tried] = [$levels, 0, [], []];
        $this->number++;

        return true;
    }

    /**
     * A receiver that leaves out what comes twice has to see that another change is another post.
     *
     * @param list<array{queue: string|null, from: string, to: string}> $changes
     * @param array<string, Level> $levels
     */
    private function remember(array $changes, array $levels): void
    {
        if ($this->tried !== [] && $this->tried !== $changes) {
            $this->attempt = 0;
            $this->number++;
        }
        $this->tried = $changes;
        foreach ($changes as ['queue' => $queue]) {
            $level = $levels[$queue ?? self::REDIS] ?? Level::Ok;
            $this->doubted[$queue ?? self::REDIS][$level->value] = $level;
        }
    }

    /** @return array<string, Level> that are not well, by queue */
    private static function levels(Report $report): array
    {
        if ($report->failure !== null) {
            return [self::REDIS => $report->level];
        }
        $levels = [];
        foreach ($report->passed() as $finding) {
            $levels[$finding->queue] = Level::worst($finding->level, $levels[$finding->queue] ?? Level::Ok);
        }

        return $levels;
    }

    /**
     * @param array<string, Level> $levels
     *
     * @return list<array{queue: string|null, from: string, to: string}> queue null: Redis
     */
    private function changes(array $levels): array
    {
        $changes = [];
        foreach (array_keys($levels + $this->known + $this->doubted) as $queue) {
            [$from, $to] = [$this->known[$queue] ?? Level::Ok, $levels[$queue] ?? Level::Ok];
            foreach ($from === $to ? $this->doubted[$queue] ?? [] : [] as $doubted) {
                $from = $doubted === $to ? $from : $doubted;
            }
            if ($from !== $to) {
                $changes[] = ['queue' => $queue === self::REDIS ? null : (string) $queue, 'from' => $from->value, 'to' => $to->value];
            }
        }

        return $changes;
    }

    /** A receiver knows by it what comes twice. */
    private function id(float $now): string
    {
        $this->first ??= (int) $now;

        return gethostname() . '-' . getmypid() . "-$this->first-$this->number";
    }
}
