<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

/** What this project wants of itself, held against the tables of one run. They judge; they do not fail the run. */
final class Goals implements Section
{
    private const OURS = 'delayqueue';

    /** @param array<string, Table> $tables by name; goals of tables that are not there are left out */
    public function __construct(private readonly array $tables)
    {
    }

    public function name(): string
    {
        return 'goals';
    }

    public function toMarkdown(): string
    {
        $text = "## Goals\n\n| goal | measured | wanted | met |\n| --- | --: | --: | --- |\n";
        foreach ($this->all() as [$goal, $measured, $sign, $wanted]) {
            $met = self::isMet($measured, $sign, $wanted) ? 'yes' : 'NO';
            $text .= sprintf("| %s | %s | %s %s | %s |\n", $goal, Numbers::show($measured), $sign, Numbers::show($wanted), $met);
        }

        return $text;
    }

    public function toArray(): array
    {
        $goals = [];
        foreach ($this->all() as [$goal, $measured, $sign, $wanted]) {
            $met = self::isMet($measured, $sign, $wanted);
            $goals[] = ['goal' => $goal, 'measured' => $measured, 'wanted' => "$sign $wanted", 'met' => $met];
        }

        return ['title' => 'Goals', 'goals' => $goals];
    }

    public function isEmpty(): bool
    {
        return $this->all() === [];
    }

    /** @return list<array{string, float, '>='|'<=', float}> goal, measured, sign, wanted */
    private function all(): array
    {
        $goals = [
            ['push: jobs/s, of two-key', $this->times('push', 'jobs_per_s', 'two-key'), '>=', 1.0],
            ['push: jobs/s, of beanstalkd', $this->times('push', 'jobs_per_s', 'beanstalkd'), '>=', 1.05],
            ['push: client CPU, of two-key (phpredis)', $this->times('push', 'client_us', 'two-key'), '<=', 1.0],
            ['pushMany(100): jobs/s, of two-key in a pipeline', $this->times('push-many-100', 'jobs_per_s', 'two-key'), '>=', 2.2],
            ['prefetch 1: jobs/s, of beanstalkd', $this->times('consume-1', 'jobs_per_s', 'beanstalkd'), '>=', 1.4],
            ['prefetch 1: jobs/s, of two-key without ack', $this->times('consume-1', 'jobs_per_s', 'two-key'), '>=', 0.85],
            ['prefetch 64: jobs/s, of beanstalkd', $this->times('consume-64', 'jobs_per_s', 'beanstalkd'), '>=', 12.0],
            ['two workers, prefetch 64: jobs/s, of beanstalkd', $this->times('two-workers-64', 'jobs_per_s', 'beanstalkd'), '>=', 10.0],
            ['lateness p50, ms', $this->ours('lateness', 'p50_ms'), '<=', 1.0],
            ['lateness p99, ms', $this->ours('lateness', 'p99_ms'), '<=', 4.0],
            ['earliest job, ms after its due time', $this->least('lateness', 'min_ms'), '>=', 0.0],
            ['idle worker, requests/s', $this->ours('idle', 'requests_per_s'), '<=', 1.0],
            ['idle worker, commands/s, those in scripts included', $this->ours('idle', 'commands_per_s'), '<=', 1.0],
            ['memory per waiting job of 213 + 16 B, bytes', $this->ours('memory', 'bytes_213'), '<=', 440.0],
            ['the same with the option compress', $this->table('memory')?->median('delayqueue-compress', 'bytes_213'), '<=', 440.0],
            ['push with 1M waiting, of that with 10k', $this->deeper(1_000_000), '<=', 1.4],
            ['push with 5M waiting, of that with 10k', $this->deeper(5_000_000), '<=', 1.6],
            ['longest PING while a worker starts on 1M due, best run, ms', $this->least('stall', 'stall_ms'), '<=', 3.0],
            ['php-fpm push over the empty request, persistent, of two-key', $this->fpm(), '<=', 0.7],
            ['loading the extension, ms', $this->ours('load', 'over_ms'), '<=', 1.0],
            ['loading the extension, resident MiB', $this->ours('load', 'rss_mib'), '<=', 3.0],
        ];

        return array_values(array_filter($goals, static fn (array $goal) => $goal[1] !== null));
    }

    private static function isMet(float $measured, string $sign, float $wanted): bool
    {
        return $sign === '>=' ? $measured >= $wanted : $measured <= $wanted;
    }

    private function table(string $name): ?Table
    {
        return $this->tables[$name] ?? null;
    }

    private function ours(string $table, string $metric): ?float
    {
        return $this->table($table)?->median(self::OURS, $metric);
    }

    private function least(string $table, string $metric): ?float
    {
        return $this->table($table)?->least(self::OURS, $metric);
    }

    private function times(string $table, string $metric, string $peer): ?float
    {
        return self::ratio($this->ours($table, $metric), $this->table($table)?->median($peer, $metric));
    }

    private function deeper(int $level): ?float
    {
        return self::ratio($this->ours("depth-$level", 'push_us'), $this->ours('depth-10000', 'push_us'));
    }

    private function fpm(): ?float
    {
        [$ours, $theirs] = [self::OURS . ', persistent', 'two-key, persistent'];

        return self::ratio($this->table('fpm')?->median($ours, 'over_us'), $this->table('fpm')?->median($theirs, 'over_us'));
    }

    private static function ratio(?float $ours, ?float $theirs): ?float
    {
        return $ours === null || !$theirs ? null : $ours / $theirs;
    }
}
