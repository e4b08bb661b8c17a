<?php

declare(strict_types=1);

namespace DelayQueue\Tests;

use DelayQueue\Dump\Dump;
use DelayQueue\Dump\LineException;
use DelayQueue\Dump\Load;
use DelayQueue\GroupLimits;
use PHPUnit\Framework\TestCase;

/** Groups and their limits in a dump. */
final class GroupDumpTest extends TestCase
{
    use OnAnyStore;

    public function testTheGroupOfAJobIsAFieldOfItsLineAndComesBack(): void
    {
        $queue = $this->delayQueue('orders');
        $queue->pushMany([
            ['payload' => 1, 'id' => 'a', 'group' => 'tenant-42'],
            ['payload' => 2, 'id' => 'b', 'group' => "bytes \xFF", 'delay' => 60, 'expires' => '1h'],
            ['payload' => 3, 'id' => 'c', 'group' => '7'],
            ['payload' => 4, 'id' => 'd'],
        ]);
        $queue->reserveJob('c')->bury();
        $lines = [...Dump::lines($queue)];
        $fields = array_column(array_map(static fn (string $line): array => json_decode($line, true), $lines), null, 'id');
        $this->assertSame(['tenant-42', base64_encode("bytes \xFF"), '7'], [$fields['a']['group'], $fields['b']['groupBase64'], $fields['c']['group']]);
        $this->assertArrayNotHasKey('extrasBase64', $fields['a'], 'the group stands once in a line');
        $this->assertStringNotContainsString("bytes", base64_decode($fields['b']['extrasBase64']));
        $this->assertSame([], preg_grep('/^group/', array_keys($fields['d'])));

        $this->assertSame(array_fill(0, 4, true), iterator_to_array((new Load())->lines($lines, 'other')));
        $other = $this->delayQueue('other');
        foreach (['a', 'b', 'c', 'd'] as $id) {
            [$before, $after] = [$queue->peek($id), $other->peek($id)];
            $this->assertSame([$before->group, $before->state, $before->expiresAt], [$after->group, $after->state, $after->expiresAt], $id);
        }
        $this->assertSame(["bytes \xFF", 'tenant-42'], $other->groups());
        $this->assertSame(self::facts($lines), self::facts([...Dump::lines($other)]), 'a second dump is equal');
    }

    public function testLimitsComeAlongWhenTheyAreAskedForAndPausesNever(): void
    {
        $queue = $this->delayQueue('orders');
        $queue->push(1, id: 'a', group: 'x');
        $queue->limitGroups('x', new GroupLimits(2, '100/1m', 1, 3));
        $queue->limitGroups('7', new GroupLimits(ordered: true));
        $queue->limitGroups(limits: new GroupLimits(concurrency: 5));
        $queue->limitQueue(rate: '10/1s');
        $queue->pause(group: 'x');
        $queue->pause();
        $this->assertCount(2, [...Dump::lines($queue)], 'the job, and the end');
        $lines = [...Dump::lines($queue, limits: true)];
        $this->assertCount(6, $lines);
        $this->assertStringContainsString('"id":"a"', $lines[4], 'they hold from the first job on');

        $this->assertSame(array_fill(0, 5, true), iterator_to_array((new Load())->lines($lines, 'other')));
        $other = $this->delayQueue('other');
        $this->assertEquals($queue->limits(), $other->limits());
        $this->assertSame([false, false], [$other->isPaused(), $other->isPaused('x')]);

        $other->limitGroups('x', new GroupLimits(weight: 9));
        $other->limitQueue();
        $this->assertSame([true, false, false, false, false], iterator_to_array((new Load())->lines($lines, 'other')), 'that of the queue is gone');
        $this->assertSame(9, $other->limits()['groups']['x']->weight, 'limits that are there stay');
    }

    public function testAWrongLineOfLimitsEndsTheLoad(): void
    {
        $line = static fn (array $fields): string => json_encode(['queue' => 'orders', 'limitsOf' => 'group', 'group' => 'x'] + $fields);
        foreach ([['rate' => 'often'], ['concurrency' => 0], ['weight' => '2'], ['ordered' => 1], ['burst' => 2]] as $wrong) {
            try {
                iterator_to_array((new Load())->lines([$line($wrong)]));
                $this->fail(json_encode($wrong));
            } catch (LineException $error) {
                $this->assertStringContainsString(key($wrong), $error->getMessage());
            }
        }
        $this->assertSame([], $this->delayQueue('orders')->limits()['groups']);
    }

    /**
     * @param list<string> $lines
     *
     * @return list<string> without what differs between two queues and two dumps
     */
    private static function facts(array $lines): array
    {
        return preg_replace(['/"queue":"\w+"/', '/,"dump":"\w+"/'], '', $lines);
    }
}
