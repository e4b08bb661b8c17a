<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Dashboard;

use DelayQueue\Dashboard\Access;
use DelayQueue\Dashboard\Handler;
use DelayQueue\Dashboard\Request;
use DelayQueue\Dashboard\Response;
use DelayQueue\Job;
use DelayQueue\Search\Tags;
use DelayQueue\State;
use RuntimeException;

/** The dashboard finds jobs, errors and queues in trouble, page by page, and changes all that it has found. */
final class FindingTest extends DashboardCase
{
    public function testALookThroughAllQueuesFindsThoseInTroubleAndSaysHowFarItHasCome(): void
    {
        for ($n = 0; $n < 120; ++$n) {
            $this->delayQueue(sprintf('q%03d', $n))->push(1, delay: '1h', id: 'a', maxAttempts: 1);
        }
        foreach (['q007', 'q110'] as $name) {
            $this->delayQueue($name)->reserveJob('a')->bury('broken');
        }
        $this->delayQueue('q051')->push(1); // nobody works on it
        $get = fn (array $query): string => $this->handler()->handle(new Request('GET', '/', $query))->body;
        $this->assertStringContainsString('href="/?look=1"', $get([]));
        $pages = [
            [[], 'q007', '50 of 120', 'look=1&amp;from=q050'],
            [['from' => 'q050'], 'q051', '100 of 120', 'look=1&amp;from=q100'],
            [['from' => 'q100'], 'q110', '120 of 120', 'All queues'],
        ];
        foreach ($pages as [$query, $name, $far, $on]) {
            $page = $get(['look' => '1'] + $query);
            $this->assertSame(1, preg_match_all('~<tr><td><a href="/queue\?queue=(q\d+)"~', $page, $found));
            $this->assertSame([$name], $found[1]);
            $this->assertStringContainsString("$far queues were looked at", $page);
            $this->assertStringContainsString($on, $page);
            $this->assertStringNotContainsString('data-live', $page, 'the next rows stay');
        }
    }

    public function testTheNextPageGoesOnWhenTheJobsAtItsBorderHaveGone(): void
    {
        $queue = $this->delayQueue(options: ['maxAttempts' => 1]);
        foreach (['ready', 'delayed', 'buried'] as $state) {
            $queue->purge();
            $delay = $state === 'delayed' ? 60 : 0;
            $job = static fn (int $n): array => ['payload' => $n, 'id' => "p$n", 'delay' => $delay];
            $queue->pushMany(array_map($job, range(0, 199)));
            $state === 'buried' && $queue->drain(static fn () => throw new RuntimeException('no'));
            [$first, $next] = $this->idsOf(['queue' => $queue->name(), 'state' => $state]);
            [$second] = $this->idsOf(['after' => $next, 'queue' => $queue->name(), 'state' => $state]);
            $this->assertSame([50, 50, []], [count($first), count($second), array_intersect($first, $second)], $state);
            $queue->cancel($first[49], ...array_slice($first, 0, 20));
            $this->assertSame(
                $second,
                $this->idsOf(['after' => $next, 'queue' => $queue->name(), 'state' => $state])[0],
                $state,
            );
            $queue->cancel(...$first, ...$second);
            $third = $this->idsOf(['after' => $next, 'queue' => $queue->name(), 'state' => $state])[0];
            $this->assertSame([50, []], [count($third), array_intersect($third, $first, $second)], $state);
        }
    }

    public function testTheNextPageOfQueuesGoesOnWhenAQueueHasGone(): void
    {
        for ($n = 0; $n < 60; ++$n) {
            $this->delayQueue(sprintf('q%03d', $n))->push(1, delay: '1h', id: 'a');
        }
        $queues = function (string $query): array {
            parse_str(html_entity_decode($query), $parameters);
            $page = $this->handler()->handle(new Request('GET', '/', $parameters))->body;
            preg_match_all('~<tr><td><a href="/queue\?queue=(q\d+)"~', $page, $found);
            preg_match('~<a href="/\?([^"]*)">Next~', $page, $next);
            sort($found[1]);

            return [$found[1], $next[1] ?? ''];
        };
        [$first, $next] = $queues('');
        $this->delayQueue('q003')->purge();
        $this->delayQueue('q003')->forget();
        $this->delayQueue('q050')->purge();
        $this->delayQueue('q050')->forget();
        $this->assertSame(['q000', 'q049'], [$first[0], $first[49]]);
        $this->assertSame(array_map(static fn (int $n): string => "q0$n", range(51, 59)), $queues($next)[0]);
    }

    public function testErrorsAreCountedPageByPage(): void
    {
        $queue = $this->delayQueue('errors', ['maxAttempts' => 1]);
        $queue->pushMany(array_map(static fn (int $n): array => ['payload' => $n], range(1, 520)));
        $queue->drain(static fn (Job $job) => throw new RuntimeException($job->payload <= 510 ? 'the first kind' : 'the last kind'));
        $get = fn (array $query): string => $this->handler()->handle(new Request('GET', '/errors', $query + ['queue' => 'errors']))->body;
        $first = $get([]);
        $this->assertStringContainsString('<td class="number">500</td>', $first);
        $this->assertSame(1, preg_match('~href="/errors\?queue=errors&amp;after=([\w.-]+)"~', $first, $next), $first);
        $second = $get(['after' => $next[1]]);
        $this->assertSame(2, substr_count($second, '<td class="number">10</td>'));
        $this->assertStringNotContainsString('Read further', $second);
    }

    public function testJobsAreFoundByAHeader(): void
    {
        $queue = $this->delayQueue();
        $queue->push(1, delay: '1h', id: 'of-acme', headers: ['tenant' => 'acme']);
        $queue->push(1, delay: '1h', id: 'of-globex', headers: ['tenant' => 'globex']);
        $get = fn (string $header): Response => $this->handler()->handle(new Request('GET', '/queue', ['queue' => $queue->name(), 'state' => 'delayed', 'header' => $header]));
        $page = $get('tenant: acme')->body;
        $this->assertStringContainsString('id=of-acme"', $page);
        $this->assertStringNotContainsString('id=of-globex"', $page);
        $this->assertSame(400, $get('acme')->status);
    }

    public function testFoundJobsAreKickedMovedAndRescheduled(): void
    {
        $queue = $this->delayQueue();
        $queue->pushMany([['payload' => 'x', 'id' => 'a', 'maxAttempts' => 1], ['payload' => 'y', 'id' => 'b', 'maxAttempts' => 1], ['payload' => 'z', 'id' => 'c', 'delay' => '1h']]);
        $queue->drain(static fn (Job $job) => throw new RuntimeException("{$job->payload}: timeout after 30 s"));
        $name = $queue->name();
        $errors = $this->handler()->handle(new Request('GET', '/errors', ['queue' => $name]))->body;
        $this->assertSame(2, substr_count($errors, ': timeout after #</bdi>'));
        $do = fn (string $action, array $form): string => $this->handler()->handle($this->change("/found/$action", $form + ['queue' => $name]))->headers['location'] ?? 'none';
        $this->assertStringEndsWith(
            'change=kick&done=1&left=0&told=found',
            $do('kick', ['state' => 'buried', 'error' => 'x: timeout']),
        );
        $this->assertSame([State::Ready, State::Buried], [$queue->peek('a')->state, $queue->peek('b')->state]);
        $do('reschedule', ['state' => 'delayed', 'delay' => '4h', 'text' => 'z']);
        $this->assertEqualsWithDelta($queue->now() + 4 * 3600, $queue->peek('c')->dueAt, 60);
        $do('move', ['state' => 'delayed', 'to' => 'elsewhere']);
        $this->assertNull($queue->peek('c'));
        $this->assertSame('z', $this->delayQueue('elsewhere')->peek('c')->payload);
        $this->assertSame(404, $this->handler()->handle($this->change('/found/explode', ['queue' => $name, 'state' => 'ready']))->status);
        foreach ([['kick', ['state' => 'ready']], ['cancel', []], ['move', ['state' => 'delayed']], ['reschedule', ['state' => 'delayed', 'delay' => 'soon']]] as [$action, $form]) {
            $this->assertSame(400, $this->handler()->handle($this->change("/found/$action", $form + ['queue' => $name]))->status, $action);
        }
    }

    public function testHiddenPayloadsAreNotFoundByWhatIsInThem(): void
    {
        $queue = $this->delayQueue();
        $queue->push('4111', id: 'a');
        $masked = new Handler($queue, static fn (): Access => Access::Write, static fn (): ?string => null);
        foreach (['4111', '4112'] as $guess) {
            $page = $masked->handle(new Request('GET', '/queue', ['queue' => $queue->name(), 'state' => 'ready', 'text' => $guess]))->body;
            $this->assertStringContainsString('id=a"', $page);
        }
    }

    /**
     * @param array<string, string> $query
     *
     * @return array{list<string>, string} the jobs of a page, and where the next page begins
     */
    private function idsOf(array $query): array
    {
        $page = $this->handler()->handle(new Request('GET', '/queue', $query))->body;
        preg_match_all('/id=(p\d+)"/', $page, $ids);
        preg_match('/after=([^"&]+)"/', $page, $next);

        return [array_values(array_unique($ids[1])), rawurldecode($next[1] ?? '')];
    }
}
