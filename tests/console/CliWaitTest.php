<?php

declare(strict_types=1);

namespace DelayQueue\Tests\CommandLine;

use DelayQueue;
use DelayQueue\GroupLimits;
use DelayQueue\Tests\Support\CliTestCase;

/** For what a job waits, as `delayqueue show` says it. */
final class CliWaitTest extends CliTestCase
{
    public function testItsTimeAndWhetherAWorkerMayTakeItAreTold(): void
    {
        $queue = $this->queue();
        $queue->push(1, delay: 3600, id: 'delayed');
        $queue->push(1, id: 'first');
        $queue->push(1, id: 'second');
        $this->assertWaits('its time', 'delayed', 'delay');
        $this->assertWaits('a worker, which may take it now', 'first', 'nothing');
        $this->assertWaits('its turn; 1 before it', 'second', 'line');
        $this->assertSame(1, $this->json('show', 'second', '--format=json')['ahead']);
        $queue->reserveJob('first')->bury();
        $this->assertStringNotContainsString('waits for', $this->cliExpecting(0, 'show', 'first'));
        $this->assertNull($this->json('show', 'first', '--format=json')['waitsFor']);
    }

    public function testAClosedQueueIsTold(): void
    {
        $queue = $this->queue();
        $queue->push(1, id: 'job');
        $queue->pause();
        $this->assertWaits('its queue, which is closed until resume', 'job', 'queuePaused');
        $queue->resume();
        $queue->rateLimit(3600);
        $this->assertWaits('its queue, which is closed, until ' . self::MOMENT, 'job', 'queuePaused');
    }

    public function testAClosedGroupIsTold(): void
    {
        $queue = $this->queue();
        $queue->push(1, id: 'paused', group: 'a');
        $queue->push(1, id: 'limited', group: 'b');
        $queue->pause(group: 'a');
        $queue->rateLimit(3600, 'b');
        $this->assertWaits('its group, which is closed until resume', 'paused', 'groupPaused');
        $this->assertWaits('its group, which is closed, until ' . self::MOMENT, 'limited', 'groupClosed');
    }

    public function testTheLimitsOfAGroupAreTold(): void
    {
        $queue = $this->queue();
        $queue->limitGroups('full', new GroupLimits(concurrency: 1));
        $queue->limitGroups('fast', new GroupLimits(rate: '1/1h', burst: 1));
        $queue->limitGroups('ordered', new GroupLimits(ordered: true));
        foreach (['full', 'fast', 'ordered'] as $group) {
            $queue->push(1, id: "$group-1", group: $group);
            $queue->push(1, id: "$group-2", group: $group);
        }
        $this->takeOneOfEach($queue, 3);
        $this->assertWaits('another job of its group to end: as many run as may', 'full-2', 'groupConcurrency');
        $this->assertWaits('the rate of its group, until ' . self::MOMENT, 'fast-2', 'groupRate');
        $this->assertWaits('job ordered-1, which its ordered group waits for(, until ' . self::MOMENT . ')?', 'ordered-2', 'groupOrder');
        $this->assertSame('ordered-1', $this->json('show', 'ordered-2', '--format=json')['heldUpBy']);
    }

    public function testTheLimitsOfAQueueAreTold(): void
    {
        $queue = $this->queue();
        $queue->limitQueue(concurrency: 1);
        $queue->push(1, id: 'first');
        $queue->push(1, id: 'second');
        $this->takeOneOfEach($queue, 1);
        $this->assertWaits('the limits of its queue(, until ' . self::MOMENT . ')?', 'second', 'queueLimit');
    }

    private const MOMENT = '\d{4}-\d\d-\d\dT\S+Z \(.+\)';

    /** @param string $words a pattern */
    private function assertWaits(string $words, string $id, string $reason): void
    {
        $shown = $this->cliExpecting(0, 'show', $id);
        $this->assertMatchesRegularExpression("/^waits for +$words$/m", $shown);
        $this->assertSame($reason, $this->json('show', $id, '--format=json')['waitsFor']);
    }

    private function takeOneOfEach(DelayQueue $queue, int $jobs): void
    {
        for ($n = 0; $n < $jobs; $n++) {
            $this->assertNotNull($queue->reserve());
        }
    }
}
