<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

use DelayQueue\Tests\Support\Wait;
use RuntimeException;

/** A queue with due jobs in groups, filled once. Each server of it starts with a copy. */
final class GroupData
{
    /** Bytes of server memory for each job that waits. */
    public readonly float $bytes;

    private readonly string $file;

    /** @param int|null $full as {@see Task::$full} */
    public function __construct(private readonly Session $session, int $count, public readonly int $groups, public readonly ?int $full = null)
    {
        $server = new RedisServer($session->directory());
        $server->ask('CONFIG', 'SET', 'rdbcompression', 'no');
        $before = $server->memory();
        Child::run(new Task(Peers::OURS, 'FillGroups', $server->endpoint(), count: $count, groups: $groups, full: $full));
        $this->bytes = ($server->memory() - $before) / $count;
        $server->ask('BGSAVE'); // not SAVE: this client waits ten seconds at most
        Wait::until(static fn () => str_contains($server->ask('INFO', 'persistence'), 'rdb_bgsave_in_progress:0'), 120, 'a saved queue');
        $this->file = $session->directory() . '/dump.rdb';
        rename("{$server->directory()}/dump.rdb", $this->file);
    }

    /** @param bool $isCounted its instructions are to be counted; else how long its scripts take: others wait for the processor then, if they can */
    public function server(bool $isCounted = false): RedisServer
    {
        $directory = $this->session->directory();
        link($this->file, "$directory/dump.rdb");
        $server = new RedisServer($directory, $isCounted ? Callgrind::under($directory) : ['nice', '-n', '-20']);
        Wait::until(static function () use ($server): bool {
            try {
                return $server->ask('PING') === 'PONG';
            } catch (RuntimeException) {
                return false; // it reads the copy
            }
        }, 120, 'a server that has read the queue');
        $server->ask('CONFIG', 'SET', 'hz', '1'); // what it does by time is not counted, as far as that can be

        return $server;
    }
}
