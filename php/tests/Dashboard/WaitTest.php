<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Dashboard;

use Closure;
use DelayQueue\Dashboard\Request;
use DelayQueue\GroupLimits;
use DelayQueue\QueueInterface;

/** The page of a job tells for what it waits. */
final class WaitTest extends DashboardCase
{
    /** @return array<string, array{Closure(QueueInterface): mixed, string, string}> what is done to the queue; the words of the state, and of the wait */
    public static function waits(): array
    {
        $group = static fn (?GroupLimits $limits, string $first = 'a') => static function (QueueInterface $queue) use ($limits, $first): void {
            $limits === null || $queue->limitGroups('g', $limits);
            $queue->pushMany([['payload' => 1, 'id' => $first, 'group' => 'g'], ['payload' => 2, 'id' => 'x', 'group' => 'g']]);
            self::assertSame($first, $queue->reserve()?->id);
        };

        return [
            'its time' => [static fn ($queue) => $queue->push(1, delay: '1h', id: 'x'), 'delayed', '~^its time; earliest in (1 h|59 min.*)$~'],
            'a paused queue' => [static fn ($queue) => [$queue->push(1, id: 'x'), $queue->pause()], 'waiting', '~^the queue, which is paused$~'],
            'a queue that is closed for some time' => [
                static fn ($queue) => [$queue->push(1, id: 'x'), $queue->pause('2h')],
                'waiting',
                '~^the queue, which is paused; earliest in (2 h|1 h 59 min)$~',
            ],
            'a paused group' => [
                static fn ($queue) => [$queue->push(1, id: 'x', group: 'g'), $queue->pause(group: 'g')],
                'waiting',
                '~^its group g, which is paused$~',
            ],
            'a group that is closed for some time' => [
                static fn ($queue) => [$queue->push(1, id: 'x', group: 'g'), $queue->rateLimit('2h', 'g')],
                'waiting',
                '~^its group g, which is closed for some time; earliest in (2 h|1 h 59 min)$~',
            ],
            'the order of its group' => [
                $group(new GroupLimits(ordered: true), '<a>'),
                'waiting',
                '~^the job in front of it in its ordered group g, <a>(; 1 comes before it)?(; earliest .*)?$~',
            ],
            'a place in its group' => [
                $group(new GroupLimits(concurrency: 1)),
                'waiting',
                '~^a place in its group g, of which as many jobs run as may(; earliest .*)?$~',
            ],
            'the rate of its group' => [
                $group(new GroupLimits(rate: '1/1h', burst: 1)),
                'waiting',
                '~^its group g, of which as many jobs have started as may for now; earliest in (1 h|59 min.*)$~',
            ],
            'the limit of the queue' => [
                static fn ($queue) => [$queue->limitQueue(concurrency: 1), $queue->push(1), $queue->reserve(), $queue->push(1, id: 'x')],
                'waiting',
                '~^the limit of the queue(; earliest .*)?$~',
            ],
            'its turn' => [
                static fn ($queue) => $queue->pushMany([['payload' => 1], ['payload' => 1], ['payload' => 1, 'id' => 'x']]),
                'ready',
                '~^its turn; 2 come before it$~',
            ],
            'nothing' => [static fn ($queue) => $queue->push(1, id: 'x'), 'ready', '~^a worker: it may run now$~'],
        ];
    }

    /**
     * @dataProvider waits
     *
     * @param Closure(QueueInterface): mixed $prepare
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('waits')]
    public function testTheJobPageTellsForWhatAJobWaits(Closure $prepare, string $state, string $wait): void
    {
        $prepare($this->delayQueue('orders'));
        $facts = $this->facts('x');
        $this->assertSame($state, $facts['State']);
        $this->assertMatchesRegularExpression($wait, $facts['Waits for']);
    }

    public function testAJobThatDoesNotWaitSaysNothingOfIt(): void
    {
        $queue = $this->delayQueue('orders');
        foreach (['held', 'buried'] as $id) {
            $queue->push(1, id: $id);
        }
        $queue->reserveJob('held');
        $queue->reserveJob('buried')?->bury();
        $this->assertArrayNotHasKey('Waits for', $this->facts('held'));
        $this->assertArrayNotHasKey('Waits for', $this->facts('buried'));
    }

    public function testTheJobThatHoldsUpAGroupIsLinked(): void
    {
        [$prepare] = self::waits()['the order of its group'];
        $prepare($this->delayQueue('orders'));
        $page = $this->handler()->handle(new Request('GET', '/job', ['queue' => 'orders', 'id' => 'x']));
        $this->assertStringContainsString('href="/job?queue=orders&amp;id=%3Ca%3E"', $page->body);
    }

    /** @return array<string, string> the words of the page by their names */
    private function facts(string $id): array
    {
        $body = $this->handler()->handle(new Request('GET', '/job', ['queue' => 'orders', 'id' => $id]))->body;
        preg_match_all('~<dt>(.*?)</dt><dd>(.*?)</dd>~s', $body, $found, PREG_SET_ORDER);

        return array_map(static fn (string $html): string => html_entity_decode(strip_tags($html)), array_column($found, 2, 1));
    }
}
