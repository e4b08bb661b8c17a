<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DelayQueue;
use DelayQueue\Flow\Chain;
use DelayQueue\Flow\Follow;
use DelayQueue\State;
use DelayQueue\Tests\Support\CliTestCase;
use DelayQueue\Tests\Support\Php;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\Wait;

/** Chains over several processes, some of which are killed, and on the command line. */
final class ChainsTest extends CliTestCase
{
    private const CHAINS = 300;

    /** @dataProvider commands */
    #[\PHPUnit\Framework\Attributes\DataProvider('commands')]
    public function testTheCommandLineFollowsChains(array $command): void
    {
        $handler = $this->file('chained.php', <<<'PHP'
            <?php
            return function ($job) {
                echo $job->id, ' ', json_encode(DelayQueue\Flow\Chain::result($job)), "\n";

                return $job->payload === 'bury' ? throw new DelayQueue\Bury('no') : $job->payload;
            };
            PHP);
        $chain = Chain::of(['payload' => 'a', 'id' => 'c'], ['payload' => 'b'], ['payload' => 'bury']);
        $chain->onFailure(['payload' => 'failed'])->push($this->queue());
        $printed = $this->cliExpecting(0, $command[0], $handler, ...array_slice($command, 1));

        $this->assertSame("c null\nc/2 \"a\"\nc/3 \"b\"\nc/failed null\n", $printed);
        $this->assertSame(['c/3'], array_column($this->queue()->list(State::Buried), 'id'));
        $this->assertSame(1, Chain::cancel($this->queue(), 'c'));
        $this->assertSame(0, $this->queue()->sibling('chains')->count());
    }

    /** @return array<string, array{list<string>}> */
    public static function commands(): array
    {
        return ['work' => [['work', '--stop-when-empty', '-q']], 'drain' => [['drain', '-q']]];
    }

    public function testTheRightsOfAWorkerAreEnoughForChains(): void
    {
        preg_match('/^ACL SETUSER (dqworker .+)$/m', (string) file_get_contents(__DIR__ . '/../../docs/acl.md'), $line);
        $this->redis->ask('ACL', 'SETUSER', ...explode(' ', $line[1]));
        $this->redis->ask('ACL', 'SETUSER', 'dqworker', 'nopass');
        $queue = new DelayQueue($this->queueName, str_replace('://', '://dqworker:x@', $this->redis->dsn()));
        foreach (['c', 'd'] as $id) {
            $chain = Chain::of(['payload' => 'a', 'id' => $id, 'group' => 'g'], ['payload' => 'b', 'group' => 'h'], ['payload' => 'c', 'delay' => '1h']);
            $chain->onFailure(['payload' => 'failed'])->push($queue);
        }
        $this->assertSame(4, $queue->drain(new Follow(static fn () => null)));
        $this->assertSame(3, Chain::check($queue, 'c')->link);
        $this->assertSame(1, Chain::cancel($queue, 'c'));
        $queue->cancel('d/3');
        $this->assertNull(Chain::check($queue, 'd')->state);
        $this->assertSame([], [...Chain::ids($queue)]);
    }

    public function testCheckTellsOfALinkWhoseWorkerWasKilledInItsLastAttempt(): void
    {
        $chain = Chain::of(['payload' => ['do' => 'wait'], 'id' => 'c', 'maxAttempts' => 1, 'ttr' => 0.2], ['payload' => ['do' => 'nothing']]);
        $chain->onFailure(['payload' => 'failed', 'queue' => 'failures'])->push($this->queue());
        $worker = $this->start('work', self::HANDLER);
        $this->holder('c');
        $worker->kill();
        $queue = $this->queue();
        Wait::until(fn (): bool => $queue->reserve() === null && $queue->peek('c')->state === State::Buried, 10, 'Redis has buried the link');
        $this->assertSame(0, $queue->sibling('failures')->count());

        $this->assertSame(State::Buried, Chain::check($queue, 'c')->state);
        $this->assertStringStartsWith('lease expired', Chain::failure($queue->sibling('failures')->reserve())['error']);
        $queue->kick();
        $this->letGo('c');
        $this->cliExpecting(0, 'work', self::HANDLER, '--stop-when-empty');
        $this->assertSame(['c', 'c/2'], $this->done());
        $this->assertSame(0, $queue->sibling('chains')->count());
    }

    public function testWorkersThatAreKilledLoseNoLink(): void
    {
        $log = "{$this->redis->folder->path}/links.log";
        $options = ['ttr' => 0.4, 'maxAttempts' => 0];
        [$a, $b] = [$this->queue($options)->sibling('a'), $this->queue($options)->sibling('b')];
        $spread = $a->sibling('spread', ['partitions' => 4]);
        $start = function (int $place) use ($log): Process {
            $queues = $place % 2 === 0 ? ['1', '1', 'a', 'b'] : ['4', '4', 'spread'];

            return Php::program('chains.php', $this->redis->dsn(), $log, ...$queues);
        };
        for ($n = 0; $n < self::CHAINS; $n++) {
            Chain::of(
                ['payload' => 1, 'id' => "c$n", 'queue' => $a],
                ['payload' => 2, 'queue' => $spread],
                ['payload' => 3, 'queue' => $b, 'group' => 'g' . $n % 3],
                ['payload' => 4, 'queue' => $spread],
            )->push($a);
        }
        $workers = array_map($start, range(0, 3));
        $isDone = static fn (): bool => $a->count() + $b->count() + $spread->count() === 0;
        $kills = 0;
        for ($until = microtime(true) + 10; !$isDone() && microtime(true) < $until; ++$kills) {
            usleep(random_int(10_000, 60_000));
            $place = array_rand($workers);
            $workers[$place]->kill();
            $workers[$place] = $start($place);
        }
        Wait::until($isDone, 60, 'all links are done');

        $this->assertGreaterThan(20, $kills);
        $this->assertSame([], [...Chain::ids($a)]);
        $this->assertSame(0, $a->sibling('chains')->count(), 'nothing is left');
        $firsts = array_flip(array_reverse(file($log, FILE_IGNORE_NEW_LINES), true));
        for ($n = 0; $n < self::CHAINS; $n++) {
            $order = ["begin c$n", "end c$n 0", "begin c$n/2", "end c$n/2 1", "begin c$n/3", "end c$n/3 2", "begin c$n/4", "end c$n/4 3"];
            $lines = array_map(static fn (string $line): ?int => $firsts[$line] ?? null, $order);
            $sorted = $lines;
            sort($sorted);
            $this->assertSame($sorted, $lines, "the links of c$n run in their order");
            $this->assertNotContains(null, $lines, "each link of c$n has run");
            array_map(static function (string $line) use (&$firsts): void {
                unset($firsts[$line]);
            }, $order);
        }
        $this->assertSame([], $firsts, 'nothing else has run, and no link with another result');
    }
}
