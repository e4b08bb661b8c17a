<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Cases;

use DelayQueue\Bench\Benchmark;
use DelayQueue\Bench\Child;
use DelayQueue\Bench\Figure;
use DelayQueue\Bench\GroupData;
use DelayQueue\Bench\Numbers;
use DelayQueue\Bench\Peers;
use DelayQueue\Bench\RedisServer;
use DelayQueue\Bench\Session;
use DelayQueue\Bench\Table;
use DelayQueue\Bench\Task;
use DelayQueue\Bench\Work\FillGroups;
use RuntimeException;

/** The cost of groups and their limits for the server, how long its longest scripts take, and what plain jobs cost beside another commit. */
final class Groups implements Benchmark
{
    private const COLUMNS = [
        'at_1' => '1 at once', 'at_16' => '16', 'at_64' => '64', 'at_100' => '100',
        'bytes' => 'bytes a job', 'longest_ms' => 'longest call, ms', 'median_ms' => 'median call, ms', 'place' => 'served as number',
    ];

    /** How often a call is counted, and a worker's reserve of one job. Of some queues no more than 1,000 jobs may be served. */
    private const CALLS = 150;

    /** The most instructions of a job, by prefetch. */
    private const WITHOUT_LIMITS = ['at_1' => 420_000, 'at_16' => 185_000, 'at_64' => 200_000];

    private const ONE_AT_A_TIME = ['at_1' => 560_000, 'at_16' => 300_000, 'at_64' => 320_000];

    private const PLAIN = 'a worker, plain jobs';

    private const BEFORE = ', before';

    private const MORE_THAN_BEFORE = 1.03;

    /** @var array<string, GroupData> */
    private array $data = [];

    private int $count = 100_000;

    private int $calls = self::CALLS;

    public function run(Session $session): Table
    {
        $this->count = $session->jobs(100_000, least: 1_000);
        $this->calls = $session->jobs(self::CALLS, least: 10);
        $note = 'Server instructions for a job, counted by callgrind, unless a column says otherwise; ' . number_format($this->count) . ' jobs wait. '
            . 'A worker acknowledges a batch with the reserve of the next one. Calls are single jobs, a push also of a hundred. Milliseconds are Redis\' own, of each script (SLOWLOG).';
        $table = new Table('groups', 'Groups', self::COLUMNS, $note);
        if (!$session->has(Peers::OURS)) {
            return $table;
        }
        $this->countLoops($session, $table);
        $this->countCalls($session, $table);
        $session->rotate($table, [
            self::many('wrong entries in line', $this->count) => fn () => self::wrongEntries($this->data($session, $this->count)),
            self::many('groups, limitGroups()', $this->count) => fn () => self::slowest($this->data($session, $this->count)->server(), 'LimitGroups'),
            self::many('groups, half of them full, stats()', $this->count)
                => fn () => self::slowest($this->data($session, $this->count, 50)->server(), 'Stats', 20),
        ]);
        $many = $session->jobs(1_000_000, 100_000);
        $session->rotate($table, [
            self::many('jobs of another group', $many) . ', then one' => fn () => self::firstOfAnother($session, $many),
        ], runs: 1);

        return $table;
    }

    public function figures(Table $table): array
    {
        $figures = [];
        foreach ($table->rows() as $row) {
            $wanted = match (true) {
                str_contains($row, 'full, a worker') => self::ONE_AT_A_TIME,
                str_contains($row, 'groups, a worker') => self::WITHOUT_LIMITS + ['bytes' => 700],
                $row === "push() of a group's job" => ['at_1' => 100_000, 'at_100' => 45_000],
                str_ends_with($row, ', then one') => ['place' => 2],
                default => $table->values($row, 'longest_ms') === [] ? [] : ['longest_ms' => 10],
            };
            foreach ($wanted as $metric => $limit) {
                $figures[] = Figure::atMost("$row: " . self::COLUMNS[$metric], $limit, $table->values($row, $metric));
            }
            foreach (str_ends_with($row, self::BEFORE) ? self::COLUMNS : [] as $metric => $heading) {
                $now = substr($row, 0, -strlen(self::BEFORE));
                $ratios = $table->ratios($now, $row, $metric);
                if ($ratios !== []) {
                    $figures[] = Figure::atMost("$now: $heading, of before", self::MORE_THAN_BEFORE, $ratios);
                }
            }
        }

        return [...$figures, ...$this->fewBesideMany($table)];
    }

    /** @return list<Figure> whether a job costs as much among few groups as among many */
    private function fewBesideMany(Table $table): array
    {
        $figures = [];
        foreach (array_keys(self::WITHOUT_LIMITS) as $metric) {
            $ratios = $table->ratios(self::many('groups, a worker', 10), self::many('groups, a worker', $this->count), $metric);
            $apart = array_map(static fn (float $ratio) => max($ratio, 1 / $ratio), $ratios);
            if ($apart !== []) {
                $figures[] = Figure::atMost('the dearer of 10 and ' . self::many('groups', $this->count) . ': ' . self::COLUMNS[$metric], 1.15, $apart);
            }
        }

        return $figures;
    }

    private function countLoops(Session $session, Table $table): void
    {
        $rows = [self::PLAIN => fn () => $this->loop($session, 0)];
        if ($session->settings->before !== null) {
            $rows[self::PLAIN . self::BEFORE] = fn () => $this->loop($session, 0, before: true);
        }
        foreach ($session->settings->quick ? [1_000] : [10, 1_000, $this->count] as $groups) {
            $rows[self::many('groups, a worker', $groups)] = fn () => $this->loop($session, $groups);
        }
        foreach ($session->settings->quick ? [1_000 => [50]] : [1_000 => [0, 50, 99], $this->count => [0, 50, 99]] as $groups => $percents) {
            foreach ($percents as $percent) {
                $row = self::many("groups, one job at a time, $percent % full, a worker", $groups);
                $rows[$row] = fn () => $this->loop($session, $groups, $percent);
            }
        }
        $session->rotate($table, $rows);
    }

    private function countCalls(Session $session, Table $table): void
    {
        $kinds = ['' => [0, []], " of a group's job" => [1_000, []]];
        if ($session->settings->before !== null) {
            $kinds[self::BEFORE] = [0, $session->environmentBefore()];
        }
        for ($run = 0; $run < $session->settings->runs; $run++) {
            foreach ($kinds as $kind => [$groups, $environment]) {
                $session->say(sprintf('groups %d/%d calls%s', $run + 1, $session->settings->runs, $kind));
                $server = $this->data($session, $groups)->server(isCounted: true);
                $task = new Task(Peers::OURS, 'CountCalls', $server->endpoint(), count: $this->calls, groups: $groups);
                try {
                    $result = Child::run($task, environment: $environment);
                } catch (RuntimeException $error) {
                    $table->fail("calls$kind", $error->getMessage());
                    continue;
                }
                foreach ($result as $name => $value) {
                    [$call, $many] = explode(': ', $name);
                    $table->add("$call()$kind", $run, ["at_$many" => $value]);
                }
            }
        }
    }

    /** @return array<string, float> */
    private function loop(Session $session, int $groups, ?int $percent = null, bool $before = false): array
    {
        $data = $this->data($session, $groups, $percent);
        $batch = $percent === null ? PHP_INT_MAX : $groups - $data->full;
        $server = $data->server(isCounted: true);
        $task = new Task(Peers::OURS, 'CountLoop', $server->endpoint(), seconds: 120, count: $this->calls, batch: $batch);

        $result = Child::run($task, environment: $before ? $session->environmentBefore() : []);

        return $result + ($percent === null && !$before ? ['bytes' => $data->bytes] : []);
    }

    /** @return array<string, float> */
    private static function wrongEntries(GroupData $data): array
    {
        $server = $data->server();
        // Each group may hold one job, and holds one; none has been looked at since.
        $server->ask('HSET', 'dq:{bench}:limits', '', '1 - - 1 0');
        foreach (array_chunk(range(0, $data->groups - 1), 1_000) as $groups) {
            $held = array_map(static fn (int $group) => ['0', FillGroups::name($group) . "\nhanother"], $groups);
            $server->ask('ZADD', 'dq:{bench}:groups', ...array_merge(...$held));
        }

        return self::slowest($server, 'ReserveNothing', 100);
    }

    /** @return array<string, float> of the scripts of this work, one of them alone or the most of them */
    private static function slowest(RedisServer $server, string $work, int $count = 1): array
    {
        $server->ask('CONFIG', 'SET', 'slowlog-max-len', '10000');
        $server->ask('CONFIG', 'SET', 'slowlog-log-slower-than', '0');
        Child::run(new Task(Peers::OURS, $work, $server->endpoint(), count: $count));
        $server->ask('CONFIG', 'SET', 'slowlog-log-slower-than', '-1');
        $scripts = array_filter($server->ask('SLOWLOG', 'GET', '-1'), static fn (array $entry) => str_starts_with($entry[3][0], 'EVAL'));
        $tookUs = array_column($scripts, 2);

        return ['longest_ms' => max($tookUs) / 1000, 'median_ms' => Numbers::median($tookUs) / 1000];
    }

    /** @return array<string, float> */
    private static function firstOfAnother(Session $session, int $count): array
    {
        $server = new RedisServer($session->directory());
        Child::run(new Task(Peers::OURS, 'FillGroups', $server->endpoint(), count: $count, groups: 1));

        return Child::run(new Task(Peers::OURS, 'FirstOfAnother', $server->endpoint()));
    }

    private function data(Session $session, int $groups, ?int $percent = null): GroupData
    {
        $full = $percent === null ? null : min(intdiv($groups * $percent, 100), $groups - 1);

        return $this->data[$groups . ' ' . ($full ?? 'none')] ??= new GroupData($session, $this->count, $groups, $full);
    }

    private static function many(string $what, int $number): string
    {
        return number_format($number) . " $what";
    }
}
