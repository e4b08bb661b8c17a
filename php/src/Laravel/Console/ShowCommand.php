<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Console;

use DelayQueue\Internal\StartBy;
use DelayQueue\JobInfo;
use DelayQueue\Laravel\QueueName;
use Illuminate\Console\Command;
use Illuminate\Support\Carbon;

final class ShowCommand extends Command
{
    use FindsConnection;

    protected $signature = 'delayqueue:show
                            {id : The id of the job}
                            {--queue= : The queue it is in; else all are looked at}
                            {--connection= : The queue connection}';

    protected $description = 'Show a job that waits, runs, or lies buried';

    public function handle(): int
    {
        $info = $this->connection()->find((string) $this->argument('id'), $this->queueOption());
        if ($info === null) {
            $this->line("<error>not there</error> {$this->argument('id')}");

            return self::FAILURE;
        }
        $this->table([], array_map(static fn (string $name, string $value): array => [$name, $value], ...self::columns($info)));

        return self::SUCCESS;
    }

    /** @return array{list<string>, list<string>} */
    private static function columns(JobInfo $info): array
    {
        $payload = (array) json_decode($info->body, true);
        $facts = array_filter([
            'id' => $info->id,
            'job' => $payload['displayName'] ?? null,
            'uuid' => $payload['uuid'] ?? null,
            'queue' => QueueName::decode($info->queue),
            'group' => $info->group,
            'state' => $info->state->value,
            'attempts' => (string) ($info->attempts + (int) ($payload['attempts'] ?? 0)),
            'created' => self::moment($info->createdAt),
            'due' => self::moment($info->dueAt),
            'expires' => ($until = StartBy::at($info->headers, $info->dueAt)) === null ? null : self::moment($until),
            'lease until' => $info->leaseUntil === null ? null : self::moment($info->leaseUntil),
            'last error' => $info->lastError,
        ], static fn (?string $value): bool => $value !== null);

        return [array_keys($facts), array_values($facts)];
    }

    private static function moment(float $seconds): string
    {
        return Carbon::createFromTimestampMs((int) ($seconds * 1000))->setTimezone(date_default_timezone_get())->format('Y-m-d H:i:s.v P');
    }
}
