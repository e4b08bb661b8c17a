<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database;

use DelayQueue;
use DelayQueue\Database\Inbox;
use DelayQueue\Database\Journal;
use DelayQueue\Database\Outbox;
use DelayQueue\Database\Relay;
use DelayQueue\Job;
use DelayQueue\NewJob;
use DelayQueue\Testing;
use DelayQueue\Tests\Database\Support\OutboxTestCase;
use PDO;
use PHPUnit\Framework\Attributes\DataProvider;

/** The rights that docs/database.md names are enough. */
final class PrivilegesTest extends OutboxTestCase
{
    private const ROLES = ['producers', 'relay', 'inbox and journal'];

    /** @dataProvider servers */
    #[DataProvider('servers')]
    public function testAUserWithTheRightsOfItsRoleDoesItsWork(string $server): void
    {
        $this->begin($server);
        foreach (self::documented() as $role => $rights) {
            $users[$role] = $this->user($server, $role, $rights);
        }
        $queues = fn (string $name): DelayQueue => $this->queue($name);
        foreach ([false, true] as $journal) {
            $outbox = new Outbox($users['producers'], $queues, $journal);
            $outbox->transaction(static fn () => $outbox->pushMany('orders', [['payload' => 1, 'id' => 'one'], ['payload' => 2, 'id' => 'two']]));
            $outbox->transaction(static fn () => $outbox->cancel('orders', 'two'));
            $outbox->pushNow('orders', new NewJob(3, id: "three-$journal"));
            $outbox->waiting();
            $relay = new Relay($users['relay'], $queues, after: 0.0);
            $this->assertGreaterThan(0, $relay->runOnce());
            $this->assertSame(0, $this->rows());
            $this->assertSame(4, $this->sweepLater($relay), 'three jobs and a cancellation');
            $inbox = new Inbox($users['inbox and journal']);
            $history = new Journal($users['inbox and journal'], $queues);
            $done = 0;
            $history->watch($this->queue())->consume(static function (Job $job) use ($inbox, &$done): void {
                $done += (int) $inbox->once($job, static fn () => null);
            }, stopWhenEmpty: true);
            $this->assertSame(2, $done);
            $this->assertSame('done', $history->state('one'));
            $this->assertSame([0, 0], [$history->rebuild('orders'), $history->prune('30d')]);
        }
    }

    private function sweepLater(Relay $relay): int
    {
        ini_set('delayqueue.testing', '1');
        Testing::travel('11m');
        try {
            return $relay->sweep();
        } finally {
            Testing::travelBack();
            ini_restore('delayqueue.testing');
        }
    }

    /** @return array<string, array<string, list<string>>> rights by role and table */
    private static function documented(): array
    {
        $page = (string) file_get_contents(dirname(__DIR__, 2) . '/docs/database.md');
        preg_match_all('/^\| `(delayqueue_\w+)` \| (.*`[A-Z].*) \|$/m', $page, $lines, PREG_SET_ORDER);
        self::assertCount(3, $lines);
        foreach ($lines as [, $table, $cells]) {
            foreach (explode('|', $cells) as $number => $cell) {
                $rights[self::ROLES[$number]][$table] = preg_match_all('/`([A-Z]+)`/', $cell, $found) > 0 ? $found[1] : [];
            }
        }

        return $rights;
    }

    /** @param array<string, list<string>> $rights */
    private function user(string $server, string $role, array $rights): PDO
    {
        $database = self::database($server);
        $admin = $database->admin($this->database);
        $isMySql = $database->driver() === 'mysql';
        $name = 'dq' . bin2hex(random_bytes(4));
        $user = $isMySql ? "$name@localhost" : $name;
        $admin->exec($isMySql ? "CREATE USER $user IDENTIFIED BY 'secret'" : "CREATE ROLE $user LOGIN PASSWORD 'secret'");
        foreach ($rights as $table => $words) {
            $words === [] || $admin->exec('GRANT ' . implode(', ', $words) . " ON $table TO $user");
        }

        return new PDO($database->dsn($this->database), $name, 'secret', [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
    }
}
