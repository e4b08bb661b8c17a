<?php

declare(strict_types=1);

namespace DelayQueue\Tests\CommandLine;

use DelayQueue;
use DelayQueue\GroupLimits;
use DelayQueue\State;
use DelayQueue\Tests\Support\CliTestCase;

/** Groups of jobs on the command line: their jobs, their limits, and closing them. */
final class CliGroupsTest extends CliTestCase
{
    public function testAJobIsPushedIntoAGroupAndShowsIt(): void
    {
        $this->cliExpecting(0, 'push', '1', '--id=a', '--group=tenant-42');
        $this->cliExpecting(0, 'push', '2', '--id=b', '--group=tenant-7');
        $this->cliExpecting(0, 'push', '3', '--id=c');
        $this->assertSame('tenant-42', $this->queue()->peek('a')->group);
        $this->assertMatchesRegularExpression('/^group +tenant-42$/m', $this->cliExpecting(0, 'show', 'a'));
        $this->assertStringNotContainsString("\ngroup", $this->cliExpecting(0, 'show', 'c'));
        $this->assertSame(['tenant-42', null], [$this->json('show', 'a', '--format=json')['group'], $this->json('show', 'c', '--format=json')['group']]);
        $this->assertMatchesRegularExpression('/^id +group +due.*^a +tenant-42 +\d+.*^b +tenant-7 .*^c +\d{4}-/ms', $this->cliExpecting(0, 'list', 'ready'));
        $this->assertSame(['a'], array_column($this->json('list', 'ready', '--group=tenant-42', '--format=json'), 'id'));
        $this->assertSame([], $this->json('list', 'delayed', '--group=tenant-42', '--format=json'));
        $this->cliExpecting(2, 'list', 'buried', '--group=tenant-42');
        $this->cliExpecting(2, 'list', 'ready', '--group=tenant-42', '--after=a');
        $this->assertStringStartsWith('delayqueue: group must not contain control characters', $this->cliExpecting(2, 'push', '1', "--group=a\nb"));
    }

    public function testGroupsAreListedByNameWithTheirJobsAndLimits(): void
    {
        $queue = $this->queue();
        $queue->pushMany(array_map(static fn (int $n): array => ['payload' => $n, 'group' => sprintf('g%03d', $n % 120)], range(0, 239)));
        $queue->push(1, group: "\u{9B}2J");
        $queue->push(1, group: '7', delay: 60);
        $this->assertCount(100, $this->json('groups', '--format=json'), 'as many as other lists');
        $this->assertCount(122, $this->json('groups', '--limit=500', '--format=json'));
        $this->assertSame(['g118', 'g119', "\u{9B}2J"], array_column($this->json('groups', '--after=g117', '--format=json'), 'group'));
        $this->assertStringContainsString('\u009b2J', $this->cliExpecting(0, 'groups', '--after=g119'));

        $queue->limitGroups(limits: new GroupLimits(rate: '100/1m', burst: 1));
        $queue->limitGroups('g003', new GroupLimits(concurrency: 3, weight: 2));
        $queue->limitGroups('7', new GroupLimits(ordered: true));
        $queue->reserveJob($queue->list(State::Ready, group: 'g003')[0]->id);
        $queue->pause(group: 'g003');
        $queue->rateLimit('1h', 'g004');
        [$seven, $three, $four] = $this->json('groups', '7', 'g003', 'g004', '--format=json');
        $this->assertSame(['7', 1, 0, true, false], [$seven['group'], $seven['waiting'], $seven['reserved'], $seven['limits']['ordered'], $seven['paused']]);
        $this->assertSame(['g003', 1, 1, 3, true, null], [$three['group'], $three['waiting'], $three['reserved'], $three['limits']['concurrency'], $three['paused'], $three['closedUntil']]);
        $this->assertEqualsWithDelta(3600, $four['closedUntil'] - microtime(true), 60);
        $this->assertSame(['100/1m', 1], [$four['limits']['rate'], $four['limits']['burst']]);
        $text = $this->cliExpecting(0, 'groups', '7', 'g003', 'g004', 'nobody');
        $this->assertMatchesRegularExpression('/^group +waiting +reserved +next turn +limits *$/m', $text);
        $this->assertMatchesRegularExpression('/^7 +1 +0 +\S+Z \(in .*\) +ordered *$/m', $text);
        $this->assertMatchesRegularExpression('/^g003 +1 +1 .*concurrency 3, weight 2 +paused *$/m', $text);
        $this->assertMatchesRegularExpression('/^g004 +2 +0 .*rate 100\/1m, burst 1 +closed until \S+Z \(in (1h|59m.*)\) *$/m', $text);
        $this->assertMatchesRegularExpression('/^nobody +0 +0 +rate 100/m', $text);

        $this->assertStringContainsString('there is no queue mistyped', $this->cliExpecting(2, 'groups', '--queue=mistyped'));
        $this->cliExpecting(2, 'groups', '--limit=0');
        (new DelayQueue('plain', $this->redis->dsn()))->push(1);
        $this->assertSame('', $this->cliExpecting(0, 'groups', '--queue=plain'));
        $this->assertSame([], $this->json('groups', '--queue=plain', '--format=json'));
    }

    public function testLimitsAreSetShownAndForgotten(): void
    {
        $queue = $this->queue();
        $queue->push(1);
        $this->assertSame(['groups' => [], 'queue' => null, 'others' => null], $this->json('limit', '--format=json'));
        $this->assertSame('', $this->cliExpecting(0, 'limit'));
        $this->cliExpecting(0, 'limit', 'tenant-42', '--concurrency=3', '--rate=100/1m', '--burst=5', '--weight=2');
        $this->cliExpecting(0, 'limit', '7', '--ordered');
        $this->cliExpecting(0, 'limit', '--others', '--concurrency=1');
        $this->cliExpecting(0, 'limit', '--total', '--rate=500/1s');
        $this->assertEquals(new GroupLimits(3, '100/1m', 5, 2), $queue->limits()['groups']['tenant-42']);
        $this->assertEquals([new GroupLimits(rate: '500/1s'), new GroupLimits(1)], [$queue->limits()['queue'], $queue->limits()['others']]);
        $shown = $this->json('limit', '--format=json');
        $this->assertSame(['concurrency' => 3, 'rate' => '100/1m', 'burst' => 5, 'weight' => 2, 'ordered' => false], $shown['groups']['tenant-42']);
        $this->assertTrue($shown['groups']['7']['ordered']);
        $this->assertSame(['7'], array_map(strval(...), array_keys($this->json('limit', '7', '--format=json')['groups'])));
        $this->assertSame(1, $this->json('limit', '--others', '--format=json')['others']['concurrency']);
        $this->assertNull($this->json('limit', '--total', '--format=json')['others']);
        $text = $this->cliExpecting(0, 'limit');
        $this->assertMatchesRegularExpression('/^all jobs together +rate 500\/1s *$.*^all other groups +concurrency 1 *$.*^group +7 +ordered *$.*^group +tenant-42 +concurrency 3, rate 100\/1m, burst 5, weight 2 *$/ms', $text);

        $this->cliExpecting(0, 'limit', 'tenant-42', '--weight=4');
        $this->assertEquals(new GroupLimits(weight: 4), $queue->limits()['groups']['tenant-42'], 'all are set anew');
        foreach ([['tenant-42'], ['7'], ['--others'], ['--total']] as $whose) {
            $this->cliExpecting(0, 'limit', '--forget', ...$whose);
        }
        $this->assertSame(['queue' => null, 'others' => null, 'groups' => []], $queue->limits());

        foreach (['--concurrency=3', '--forget', 'a --others', '--others --total', 'a --forget --weight=2', '--total --weight=2', '--total --ordered',
            'a --burst=2', 'a --concurrency=0', 'a --rate=often', 'a --weight=x', 'a --ordered --concurrency=2'] as $wrong) {
            $this->assertMatchesRegularExpression('/^delayqueue: .+\n$/D', $this->cliExpecting(2, 'limit', ...explode(' ', $wrong)), $wrong);
        }
        $this->assertStringStartsWith('delayqueue: rate must be a number and a duration', $this->cliExpecting(2, 'limit', 'a', '--rate=often'));
        $this->assertSame(['queue' => null, 'others' => null, 'groups' => []], $queue->limits());
        $this->assertStringContainsString('there is no queue mistyped', $this->cliExpecting(2, 'limit', 'a', '--weight=2', '--queue=mistyped'));
        $this->cliExpecting(0, 'limit', 'a', '--weight=2', '--queue=new', '--create');
        $this->assertSame(2, $this->json('limit', '--queue=new', '--create', '--format=json')['groups']['a']['weight']);
        $new = new DelayQueue('spread', $this->redis->dsn(), ['partitions' => 2]);
        $new->push(1);
        $this->assertStringContainsString(
            'a queue of several partitions',
            $this->cliExpecting(2, 'limit', '--total', '--concurrency=2', '--queue=spread', '--partitions=2'),
        );
    }

    public function testWordsOfMistakesAreThoseOfTheCommandLine(): void
    {
        $this->queue()->push(1, id: 'a1', group: 'a');
        $this->assertSame("delayqueue: give --group or --after, not both\n", $this->cliExpecting(2, 'list', 'ready', '--group=a', '--after=a1'));
        $this->assertStringStartsWith('delayqueue: a group does not know its buried jobs', $this->cliExpecting(2, 'list', 'buried', '--group=a'));
        file_put_contents($dump = "{$this->redis->folder->path}/wrong.ndjson", '{"queue":"orders","limitsOf":"others","concurrency":2,"ordered":true}');
        $this->assertMatchesRegularExpression('/^delayqueue: line 1 cannot be loaded: concurrency must be 1 or null [^\n]+\n$/D', $this->cliExpecting(1, 'load', $dump));
    }

    public function testGroupsOfAQueueWithPartitionsAreSeenAsOfOne(): void
    {
        $spread = new DelayQueue('spread', $this->redis->dsn(), ['partitions' => 3]);
        $spread->pushMany(array_map(static fn (int $n): array => ['payload' => $n, 'group' => "g$n"], range(1, 9)));
        $cli = fn (string ...$arguments): string => $this->cliExpecting(0, ...[...$arguments, '--queue=spread', '--partitions=3']);
        $json = static fn (string ...$arguments): array => json_decode($cli(...[...$arguments, '--format=json']), true, flags: JSON_THROW_ON_ERROR);
        $cli('limit', 'g4', '--concurrency=1');
        $cli('limit', '--others', '--weight=2');
        $cli('pause', '--group=g7');
        $groups = $json('groups');
        $this->assertSame(array_map(static fn (int $n): string => "g$n", range(1, 9)), array_column($groups, 'group'));
        $this->assertSame(['g7'], array_keys(array_filter(array_column($groups, 'paused', 'group'))));
        $this->assertSame([1, 2], [$json('limit')['groups']['g4']['concurrency'], $json('limit')['others']['weight']]);
        $this->assertSame(1, array_sum(array_column($json('stats', 'spread'), 'blocked')));
        file_put_contents($dump = "{$this->redis->folder->path}/groups.ndjson", $cli('dump', '--limits'));
        $this->assertStringStartsWith("11 loaded, 0 kept\n", $this->cliExpecting(0, 'load', $dump, '--queue=one'));
        $this->assertEquals($spread->limits(), (new DelayQueue('one', $this->redis->dsn()))->limits());
        $this->assertSame($spread->groups(), (new DelayQueue('one', $this->redis->dsn()))->groups());
        $this->assertSame("1 cancelled\n", $cli('cancel', '--group=g4', '--force'));
    }

    public function testAGroupIsClosedAndOpened(): void
    {
        $queue = $this->queue();
        $queue->pushMany([['payload' => 1, 'id' => 'a', 'group' => 'x'], ['payload' => 2, 'id' => 'b', 'group' => 'y']]);
        $this->cliExpecting(0, 'pause', '--group=x');
        $this->assertSame([true, false, false], [$queue->isPaused('x'), $queue->isPaused('y'), $queue->isPaused()]);
        $this->assertSame('b', $queue->reserve()->id);
        $this->assertNull($queue->reserve());
        $stats = $this->json('stats', '--format=json')[0];
        $this->assertSame([1, 1, null], [$stats['ready'], $stats['blocked'], $stats['oldestReadyAge']]);
        $this->assertMatchesRegularExpression('/^queue +delayed +ready +blocked +reserved.*^\S+ +0 +1 +1 +1 /ms', $this->cliExpecting(0, 'stats'));
        $this->cliExpecting(0, 'resume', '--group=x');
        $this->assertSame('a', $queue->reserve()->id);

        $this->cliExpecting(0, 'rate-limit', '1h', '--group=x');
        $this->cliExpecting(0, 'rate-limit', '1s', '--group=x');
        $this->assertEqualsWithDelta(3600, $queue->groupStats('x')->closedUntil - microtime(true), 60, 'it never shortens');
        $this->cliExpecting(0, 'pause', '--for=10m', '--group=x');
        $this->assertEqualsWithDelta(600, $queue->groupStats('x')->closedUntil - microtime(true), 60);
        $this->cliExpecting(0, 'rate-limit', '1h');
        $this->assertTrue($queue->isPaused());
        $this->cliExpecting(0, 'resume');
        $this->assertSame([false, true], [$queue->isPaused(), $queue->isPaused('x')]);
        $this->assertStringContainsString('the time must be a duration', $this->cliExpecting(2, 'rate-limit', 'soon'));
        $this->assertStringContainsString('there is no queue mistyped', $this->cliExpecting(2, 'rate-limit', '1s', '--queue=mistyped'));
    }

    public function testTheJobsOfAGroupAreCancelledOnlyWithConsent(): void
    {
        $queue = $this->queue();
        $push = static fn (string $id, string $group, int $delay = 0): string => $queue->push(1, id: $id, group: $group, delay: $delay);
        [$push('a', 'x'), $push('b', 'x', 60), $push('c', 'y'), $push('held', 'x'), $push('buried', 'x')];
        $queue->reserveJob('held');
        $queue->reserveJob('buried')->bury();
        $this->assertStringContainsString('--force', $this->cliExpecting(2, 'cancel', '--group=x'));
        $this->assertSame(5, count($queue));
        $this->assertSame("2 cancelled\n", $this->cliExpecting(0, 'cancel', '--group=x', '--force'));
        $this->assertSame("1 cancelled\n", $this->cliExpecting(0, 'cancel', '--group=x', '--reserved', '--force'));
        $this->assertSame([State::Buried, State::Ready], [$queue->peek('buried')->state, $queue->peek('c')->state]);
        $this->assertSame("0 cancelled\n", $this->cli('cancel', '--group=x', '--force')->output);
        $this->cliExpecting(1, 'cancel', '--group=x', '--force');
        foreach ([['c', '--group=y', '--force'], ['c', '--reserved'], ["--group=a\nb", '--force'], ['--group=y', '--force', '--queue=mistyped']] as $wrong) {
            $this->cliExpecting(2, 'cancel', ...$wrong);
        }
        $this->assertSame("1 cancelled\n", $this->cliExpecting(0, 'cancel', 'c'));
    }
}
