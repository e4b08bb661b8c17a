<?php

declare(strict_types=1);

namespace DelayQueue\Tests\CommandLine;

use DelayQueue;
use DelayQueue\Search\Tags;
use DelayQueue\State;
use DelayQueue\Tests\Support\CliTestCase;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\Wait;

/** The commands that look for jobs, and act on many of them. */
final class CliSearchTest extends CliTestCase
{
    public function testASearchListsWhatItFindsAndSaysHowFarItHasCome(): void
    {
        $queue = $this->fill(2500);
        $this->assertSame(['job-7'], array_column($this->json('list', 'delayed', '--where=7}', '--tag=tenth', '--tag=x7', '--format=json'), 'id'));
        $said = $this->cliExpecting(0, 'list', 'delayed', '--header=shop: de', '--tag=tenth', '--limit=5');
        $this->assertMatchesRegularExpression('/^5 found, (\d+) of 2,500 jobs read; go on with --after=(\S+)$/m', $said);
        preg_match('/--after=(\S+)/', $said, $next);
        $this->assertStringEndsWith('.job-47', $next[1]);
        $this->assertSame(
            'job-57',
            $this->json('list', 'delayed', '--tag=tenth', '--after=job-47', '--format=json')[0]['id'],
        );
        $queue->cancel('job-47');
        $this->assertSame('job-57', $this->json('list', 'delayed', '--tag=tenth', "--after=$next[1]", '--format=json')[0]['id']);
        $queue->push(['n' => 47], delay: 60 + 47, id: 'job-47', headers: $queue->peek('job-57')->headers);
        $this->assertStringContainsString('250 found, 2,500 of 2,500 jobs read', $this->cliExpecting(0, 'list', 'delayed', '--tag=tenth', '--limit=1000'));
        $this->assertSame("250 would be listed\n", $this->cliExpecting(0, 'list', 'delayed', '--tag=tenth', '--dry-run'));
        $this->assertSame(['jobs' => 250], $this->json('list', 'delayed', '--tag=tenth', '--dry-run', '--format=json'));
        $this->assertMatchesRegularExpression(
            '/\n100 of 2,500; go on with --after=\S+\n$/',
            $this->cliExpecting(0, 'list', 'delayed'),
        );
        $this->assertCount(100, $this->json('list', 'delayed', '--format=json'), 'a plain list');
        $this->assertStringNotContainsString(' of ', $this->cliExpecting(0, 'list', 'delayed', '--offset=2450'));
        $at = static fn (string $id): string => sprintf('@%.6F', $queue->peek($id)->dueAt);
        $this->assertStringContainsString('3 found', $this->cliExpecting(0, 'list', 'delayed', "--due-after={$at('job-11')}", "--due-before={$at('job-14')}"));
        $this->assertStringContainsString('0 found', $this->cliExpecting(0, 'list', 'delayed', '--due-after=2h'));
        $this->assertStringContainsString('0 found', $this->cliExpecting(0, 'list', 'delayed', '--since=tomorrow'));
        $this->assertStringContainsString('2,500 found', $this->cliExpecting(0, 'list', 'delayed', '--since=1h', '--limit=9999'));
    }

    public function testJobsAreCancelledKickedRescheduledAndPurgedByASearch(): void
    {
        $queue = $this->fill(300);
        $this->assertSame("30 would be cancelled\n", $this->cliExpecting(0, 'cancel', '--tag=tenth', '--dry-run'));
        $this->assertStringContainsString('--force', $this->cliExpecting(2, 'cancel', '--tag=tenth'));
        $this->assertCount(300, $queue);
        $this->assertSame("30 cancelled\n", $this->cliExpecting(0, 'cancel', '--tag=tenth', '--force'));
        $this->assertSame("0 cancelled\n", $this->cli('cancel', '--tag=tenth', '--force')->output);
        $this->assertSame("5 rescheduled\n", $this->cliExpecting(0, 'reschedule', '2h', '--state=delayed', '--limit=5'));
        $this->assertSame("265 rescheduled\n", $this->cliExpecting(0, 'reschedule', '--at=@2000000000', '--header=shop: de', '--due-before=1h30m'));
        foreach (['a', 'b', 'c', 'd'] as $id) {
            $queue->push(1, id: $id, maxAttempts: 1);
            $queue->reserveJob($id)->fail($id === 'd' ? 'other' : 'Timeout');
        }
        $this->assertSame("3 would be kicked\n", $this->cliExpecting(0, 'kick', '--error=Timeout', '--spread=10m', '--dry-run'));
        $this->assertSame("2 kicked\n", $this->cliExpecting(0, 'kick', '--error=Timeout', '--limit=2', '--spread=10m'));
        $this->assertEqualsWithDelta(300, $queue->peek('b')->dueAt - $queue->peek('a')->dueAt, 30);
        $this->assertSame("1 kicked\n", $this->cliExpecting(0, 'kick', '--error=Timeout'));
        $this->assertSame(State::Ready, $queue->peek('c')->state);
        $this->assertSame("1 would be deleted\n", $this->cliExpecting(0, 'purge', 'buried', '--dry-run'));
        $this->assertSame("1 deleted\n", $this->cliExpecting(0, 'purge', '--error=other', '--force'));
        $this->assertSame("273 would be deleted\n", $this->cliExpecting(0, 'purge', '--dry-run'));
    }

    public function testAMoveTakesWhatItFindsAndLeavesIdsThatAreTaken(): void
    {
        $queue = $this->fill(30);
        $there = new DelayQueue('there', $this->redis->dsn());
        $there->push('other', id: 'job-17', delay: 60);
        $this->assertSame("2 would be moved\n", $this->cliExpecting(0, 'move', '--tag=tenth', '--to=there', '--dry-run'));
        $this->assertSame("2 moved, 1 left as they are\n", $this->cliExpecting(0, 'move', '--tag=tenth', '--to=there'));
        $this->assertSame([28, 3, 'other'], [count($queue), count($there), $there->peek('job-17')->payload]);
        $this->assertSame("0 moved\n", $this->cli('move', '--state=buried', '--to=there')->output);
        $this->cliExpecting(1, 'move', '--state=buried', '--to=there');
    }

    public function testADryRunCountsNoJobsThatWorkersHold(): void
    {
        $queue = $this->fill(30);
        $queue->kickJob('job-7');
        $this->assertNotNull($queue->reserveJob('job-7'));
        $this->assertSame("2 would be moved\n", $this->cliExpecting(0, 'move', '--tag=tenth', '--to=there', '--dry-run'));
        $this->assertSame("2 would be rescheduled\n", $this->cliExpecting(0, 'reschedule', '1h', '--tag=tenth', '--dry-run'));
    }

    public function testAMoveTakesIdsAndNeverTheWholeQueueUnasked(): void
    {
        $queue = $this->fill(3);
        $this->assertStringContainsString('give ids, or options of a search', $this->cliExpecting(2, 'move', '--to=there'));
        $this->assertStringContainsString('give ids, or options of a search', $this->cliExpecting(2, 'move', 'job-1', '--tag=tenth', '--to=there'));
        $this->assertStringContainsString('--limit goes with a search: with --tag', $this->cliExpecting(2, 'move', 'job-1', '--limit=1', '--to=there'));
        $this->assertStringContainsString('--limit goes with a search: with --tag', $this->cliExpecting(2, 'reschedule', '1h', '--limit=1'));
        $this->assertSame("2 moved\n", $this->cliExpecting(0, 'move', 'job-1', 'job-2', 'job-2', 'nobody', '--to=there'));
        $this->cliExpecting(1, 'move', 'job-1', '--to=there');
        $this->assertSame([1, 2], [count($queue), count(new DelayQueue('there', $this->redis->dsn()))]);
    }

    public function testAQuestionNamesTheNumberAndATerminalShowsABar(): void
    {
        $this->fill(1000);
        $line = implode(' ', array_map(escapeshellarg(...), [PHP_BINARY, self::BINARY])) . ' cancel --tag=tenth';
        $terminal = new Process(['script', '--quiet', '--return', '--flush', '--command', $line, '/dev/null'], $this->environment());
        $terminal->say('y');
        $said = $terminal->rest(20);
        $this->assertSame(0, $terminal->exitCode(), $said);
        $this->assertStringContainsString("Delete 100 jobs of queue $this->queueName? [y/N]", $said);
        $this->assertStringContainsString('1000/1000 jobs read [', $said);
        $this->assertStringContainsString('100 cancelled', $said);
        $this->assertStringNotContainsString('jobs read [', $this->cli('list', 'delayed', '--tag=x3')->errors);
    }

    /** @dataProvider wrongCommandLines */
    #[\PHPUnit\Framework\Attributes\DataProvider('wrongCommandLines')]
    public function testWrongOptionsEndWithTwoAndDoNothing(string $line, string $why): void
    {
        $queue = $this->fill(10);
        $before = $queue->list(State::Delayed);
        $arguments = explode(' ', $line);
        $this->assertStringContainsString("delayqueue: $why", $this->cliExpecting(2, ...$arguments));
        $this->assertEquals($before, $queue->list(State::Delayed));
    }

    /** @return iterable<string, array{string, string}> */
    public static function wrongCommandLines(): iterable
    {
        $lines = [
            'cancel --tag=a,b --force' => '--tag must not contain a comma',
            'cancel --tag= --force' => '--tag must not be empty',
            'cancel --where= --force' => '--where must not be empty',
            'cancel --error= --force' => '--error must not be empty',
            'cancel --header=x --force' => "--header number 1 is not of the form 'name: value'",
            'cancel --since=soonish --force' => '--since=soonish is neither a duration nor a moment',
            'cancel --due-before=1700000000 --force' => '--due-before=1700000000 is neither a duration nor a moment: for a Unix time write --due-before=@17',
            'cancel --due-before=1h --due-after=2h --force' => '--due-before must be later than --due-after',
            'cancel --tag=x --limit=0 --force' => '--limit must be a whole number of at least 1',
            'cancel --tag=x --state=nosuch --force' => 'there is no state nosuch',
            'cancel job-1 --tag=x --force' => 'give ids, or --group, or options of a search',
            'cancel job-1 --dry-run' => '--dry-run goes with a search',
            'cancel job-1 --limit=1' => '--limit goes with a search',
            'cancel --dry-run' => 'give ids, or --group, or options of a search',
            'purge --limit=1 --force' => '--limit goes with a search',
            'kick --max=1 --tag=x' => 'give ids, or --max=N for the N oldest, or options of a search; none of them kicks all that are buried',
            'kick job-1 --dry-run' => '--dry-run goes with a search',
            'kick --spread=soon' => '--spread must be a duration',
            'kick --spread=0' => '--spread must be longer than nothing',
            'kick --spread=1h --state=delayed' => '--spread is for buried jobs',
            'kick --state=ready' => 'only buried and delayed jobs are kicked',
            'reschedule 1h job-1 --tag=x' => 'with a search give the delay alone, and no id',
            'reschedule --tag=x' => 'give a delay or --at',
            'reschedule soon --tag=x' => 'the delay must be a duration',
            'reschedule 1h --state=reserved' => 'reserved jobs have their workers',
            'reschedule job-1 1h --dry-run' => '--dry-run goes with a search',
            'move --tag=x' => 'give --to=QUEUE',
            'move --to=there --state=reserved' => 'reserved jobs have their workers',
            'move job-1 --to=no/queue' => 'queue must be',
            'move --to=there --tag=a,b' => '--tag must not contain a comma',
            'list delayed --tag=x --offset=1' => 'a search takes no --group and no --offset',
            'list delayed --tag=x --group=g' => 'a search takes no --group and no --offset',
        ];
        foreach ($lines as $line => $why) {
            yield $line => [$line, $why];
        }
    }

    public function testAMoveThatIsKilledLosesNothingAndIsSettledByTheNext(): void
    {
        $queue = new DelayQueue($this->queueName, $this->redis->dsn(), ['ttr' => 0.5]);
        $queue->pushMany(array_map(static fn (int $n): array => ['payload' => $n, 'id' => "job-$n", 'delay' => 3600], range(1, 3000)));
        $there = new DelayQueue('there', $this->redis->dsn());
        $moved = 0;
        for ($kills = 0; $kills < 5; $kills++) {
            $move = $this->start('move', '--state=delayed', '--state=ready', '--to=there');
            $this->waitUntilMoved($there, $moved + 100 + 97 * $kills);
            $move->kill();
            $moved = count($there);
            $this->assertGreaterThanOrEqual(3000, count($queue) + $moved, 'nowhere is none');
            $this->assertLessThanOrEqual(3001 + $kills, count($queue) + $moved);
        }
        while (count($queue) > 0) {
            $this->cli('move', '--state=delayed', '--state=ready', '--state=buried', '--to=there');
            usleep(100_000);
        }
        $this->assertSame([3000, []], [count($there), $there->receipts()]);
        $this->assertSame(['job-1', 'job-3000'], [$there->peek('job-1')->id, $there->peek('job-3000')->id]);
    }

    private function waitUntilMoved(DelayQueue $there, int $number): void
    {
        Wait::until(static fn (): bool => count($there) >= $number, 30, "$number jobs are moved");
    }

    /** Delayed jobs; the 7th, 17th … have a tag. */
    private function fill(int $count): DelayQueue
    {
        $queue = $this->queue();
        $queue->pushMany(array_map(static fn (int $n): array => [
            'payload' => ['n' => $n],
            'id' => "job-$n",
            'delay' => 1000 + $n,
            'headers' => Tags::of("x$n", ...($n % 10 === 7 ? ['tenth'] : [])) + ['shop' => 'de'],
        ], range(1, $count)));

        return $queue;
    }
}
