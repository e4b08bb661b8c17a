<?php

declare(strict_types=1);

namespace DelayQueue\Tests\CommandLine;

use DelayQueue\Tests\Support\CliTestCase;
use DelayQueue\Tests\Support\EndsPools;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\RedisServer;
use DelayQueue\Tests\Support\Wait;

/** A deployment: SIGHUP to delayqueue work --processes. New workers replace the old ones only when all of the new ones are ready. */
final class CliReloadTest extends CliTestCase
{
    use EndsPools;

    public function testAReleaseThatDoesNotStartIsNotRolledOut(): void
    {
        copy(self::HANDLER, $this->file('handler.php'));
        $parent = $this->start('work', $this->file('handler.php'), '--processes=2');
        $this->ready($parent, 2);
        file_put_contents($this->file('handler.php'), '<?php nonsense(');
        $parent->signal(SIGHUP);
        $this->heard($parent, '/the new one, ended with exit code 2: the old ones stay/');
        $this->queue()->push([], id: 'a');
        Wait::until(fn () => $this->done() === ['a'], 20, 'the old ones work');
        $this->assertSame(3, substr_count($parent->errors(), ' started'), 'one new worker shows that the release does not start');

        copy(self::HANDLER, $this->file('handler.php'));
        $parent->signal(SIGHUP);
        $this->heard($parent, '/(ended with exit code 0.*){2}/s');
        $this->endWell($parent);
    }

    public function testAReleaseWithAWrongDsnLeavesTheOldWorkersAtWork(): void
    {
        $parent = $this->pool($this->redis->dsn());
        $old = $this->ready($parent, 3);
        $this->deploy('redis://127.0.0.1:1/0');
        $parent->signal(SIGHUP);
        $this->heard($parent, '/Redis is away: /');
        $this->heard($parent, '/the new one, has not reached Redis for 10 s: the old ones stay/', 40);
        $this->theOldOnesWork($parent, $old);

        $other = new RedisServer();
        try {
            $this->deploy($other->dsn());
            $parent->signal(SIGHUP);
            $place = preg_quote("for queue $this->queueName at {$other->dsn()}, prefix dq", '/');
            $this->heard($parent, "/all of the new workers are ready $place: the old ones finish the jobs they have/");
            $this->heard($parent, '/(ended with exit code 0.*){4}/s'); // the one that was given up as well
            $this->endWell($parent);
        } finally {
            $other->remove();
        }
    }

    /**
     * @param list<string> $rights
     *
     * @dataProvider users
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('users')]
    public function testAReleaseWhoseUserMayNotWorkLeavesTheOldWorkersAtWork(array $rights, string $password, int $exitCode, string $why): void
    {
        $parent = $this->pool($this->redis->dsn());
        $old = $this->ready($parent, 3);
        $this->redis->ask('ACL', 'SETUSER', 'ann', 'on', '>secret', '~*', '&*', '+@all', ...$rights);
        $this->deploy("redis+unix://ann:$password@{$this->redis->socket}?db=0");
        $parent->signal(SIGHUP);
        $this->heard($parent, "/the new one, ended with exit code $exitCode: the old ones stay/");
        $this->heard($parent, $why);
        $this->theOldOnesWork($parent, $old);
        $this->endWell($parent);
    }

    /** @return array<string, array{list<string>, string, int, string}> */
    public static function users(): array
    {
        return [
            'a wrong password' => [[], 'wrong', 3, '/delayqueue: .*WRONGPASS/'],
            'a right that only a job in hand needs' => [['-hincrby'], 'secret', 4, "/delayqueue: .*NOPERM .*'hincrby'/"],
        ];
    }

    public function testAReleaseOfAnOlderVersionThanTheQueueLeavesTheOldWorkersAtWork(): void
    {
        $parent = $this->pool($this->redis->dsn());
        $old = $this->ready($parent, 3);
        $newer = new RedisServer();
        try {
            $newer->ask('RPUSH', "dq:{{$this->queueName}}:waiting", '2');
            $this->deploy($newer->dsn());
            $parent->signal(SIGHUP);
            $this->heard($parent, '/delayqueue: .*DQSCHEMA/');
            $this->heard($parent, '/the new one, ended with exit code 4: the old ones stay/');
            $this->theOldOnesWork($parent, $old);
            $this->endWell($parent);
        } finally {
            $newer->remove();
        }
    }

    public function testNewWorkersTakeNoJobBeforeAllOfThemAreReady(): void
    {
        $parent = $this->pool($this->redis->dsn());
        $old = $this->ready($parent, 3);
        // The first and second new worker load at once, the third one when the test says so.
        file_put_contents($this->file('boot.php'), <<<'PHP'
            <?php
            putenv('DELAYQUEUE_DSN=' . trim(file_get_contents(__DIR__ . '/dsn')));
            file_put_contents(__DIR__ . '/boots', '.', FILE_APPEND | LOCK_EX);
            while (filesize(__DIR__ . '/boots') >= 3 && !is_file(__DIR__ . '/go')) {
                usleep(5000);
                clearstatcache();
            }
            PHP);
        $parent->signal(SIGHUP);
        $this->ready($parent, 4);
        $this->theOldOnesWork($parent, $old);
        touch($this->file('go'));
        $this->heard($parent, '/all of the new workers are ready/');
        $this->heard($parent, '/(ended with exit code 0.*){3}/s');
        $this->queue()->push([], id: 'new');
        Wait::until(fn () => in_array('new', $this->done(), true), 20, 'a new one works');
        $this->assertNotContains($this->holder('new'), $old);
        $this->endWell($parent);
    }

    public function testASecondSighupStartsTheReloadAnew(): void
    {
        $parent = $this->pool($this->redis->dsn());
        $this->ready($parent, 3);
        file_put_contents($this->file('boot.php'), '<?php while (true) { sleep(60); }');
        $parent->signal(SIGHUP);
        $this->heard($parent, '/SIGHUP: /');
        Wait::until(static fn () => substr_count($parent->errors(), ' started') === 4, 20, 'a new one hangs');
        $this->deploy($this->redis->dsn());
        $parent->signal(SIGHUP);
        $this->heard($parent, '/all of the new workers are ready/');
        $this->heard($parent, '/ended with exit code 0|was stopped before it was ready/');
        $this->assertStringNotContainsString('the old ones stay', $parent->errors());
        $this->endWell($parent);
    }

    public function testAStopDuringAReloadEndsAll(): void
    {
        $parent = $this->pool($this->redis->dsn());
        $this->ready($parent, 3);
        $this->deploy('redis://127.0.0.1:1/0');
        $parent->signal(SIGHUP);
        $this->heard($parent, '/Redis is away: /');
        $this->endWell($parent);
        $this->assertSame(4, preg_match_all('/ended with exit code 0$/m', $parent->errors()), $parent->errors());
    }

    public function testAHeldPoolStaysHeldThroughAReload(): void
    {
        $parent = $this->pool($this->redis->dsn());
        $this->ready($parent, 3);
        $parent->signal(SIGUSR2);
        $parent->signal(SIGHUP);
        $this->heard($parent, '/(ended with exit code 0.*){3}/s');
        $this->queue()->push([], id: 'a');
        $this->queue()->push([], id: 'b', delay: 0.3);
        Wait::until(fn () => $this->queue()->peek('b')->state === \DelayQueue\State::Ready, 20, 'time goes by');
        $this->assertSame([], $this->handled());
        $parent->signal(SIGCONT);
        Wait::until(fn () => count($this->done()) === 2, 20, 'they go on');
        $this->endWell($parent);
    }

    private function pool(string $dsn): Process
    {
        $this->deploy($dsn);

        return $this->start('work', self::HANDLER, "--bootstrap={$this->file('boot.php')}", '--processes=3');
    }

    /** A release that finds its Redis by its bootstrap file. */
    private function deploy(string $dsn): void
    {
        file_put_contents($this->file('dsn'), $dsn);
        file_put_contents($this->file('boot.php'), "<?php putenv('DELAYQUEUE_DSN=' . trim(file_get_contents(__DIR__ . '/dsn')));");
    }

    /** @param list<int> $old */
    private function theOldOnesWork(Process $parent, array $old): void
    {
        foreach (['a', 'b', 'c'] as $id) {
            $this->queue()->push(['do' => 'wait'], id: $id);
        }
        $holders = array_map($this->holder(...), ['a', 'b', 'c']);
        sort($holders);
        sort($old);
        $this->assertSame($old, $holders);
        array_map($this->letGo(...), ['a', 'b', 'c']);
        Wait::until(fn () => count($this->done()) === 3, 20, 'they do their jobs');
        $this->assertDoesNotMatchRegularExpression('/was killed|another starts/', $parent->errors());
    }
}
