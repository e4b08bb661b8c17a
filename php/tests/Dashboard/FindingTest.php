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
    public function testManyJobsAreChangedInBoundedSteps(): void
    {
        $queue = $this->delayQueue();
        $queue->pushMany(array_map(static fn (int $n): array => ['payload' => $n, 'delay' => 60 + $n, 'headers' => $n % 3 === 0 ? Tags::of('third') : []], range(0, 1199)));
        $form = ['queue' => $queue->name(), 'state' => 'delayed', 'tag' => 'third', 'total' => '1200'];
        $steps = 0;
        for ($path = '/found/cancel'; ; ++$steps) {
            $answer = $this->handler()->handle($this->change($path, $form));
            $this->assertSame(303, $answer->status, $answer->body);
            $address = parse_url($answer->headers['location']);
            parse_str($address['query'], $query);
            if ($address['path'] !== '/dq/found') {
                break;
            }
            $page = $this->handler()->handle(new Request('GET', '/found', $query))->body;
            $this->assertStringContainsString('<progress', $page);
            preg_match_all('/<input type="hidden" name="([^"]*)" value="([^"]*)">/', $page, $fields);
            $form = array_combine($fields[1], $fields[2]);
        }
        $this->assertSame([2, 800, '400', 'third', 'found'], [$steps, $queue->count(), $query['done'], $query['tag'], $query['told']]);
        $page = $this->handler()->handle(new Request('GET', '/queue', $query))->body;
        $this->assertStringContainsString('Jobs that are changed: 400.', $page);
        $this->assertStringContainsString('No job was found.', $page);
    }

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
        foreach ([[[], 'q007', '50 of 120', 'look=1&amp;from=50'], [['from' => '50'], 'q051', '100 of 120', 'look=1&amp;from=100'], [['from' => '100'], 'q110', '120 of 120', 'All queues']] as [$query, $name, $far, $on]) {
            $page = $get(['look' => '1'] + $query);
            $this->assertSame(1, preg_match_all('~<tr><td><a href="/queue\?queue=(q\d+)"~', $page, $found));
            $this->assertSame([$name], $found[1]);
            $this->assertStringContainsString("$far queues were looked at", $page);
            $this->assertStringContainsString($on, $page);
            $this->assertStringNotContainsString('data-live', $page, 'the next rows stay');
        }
    }

    public function testErrorsAreCountedPageByPage(): void
    {
        $queue = $this->delayQueue('errors', ['maxAttempts' => 1]);
        $queue->pushMany(array_map(static fn (int $n): array => ['payload' => $n], range(1, 520)));
        $queue->drain(static fn (Job $job) => throw new RuntimeException($job->payload <= 510 ? 'the first kind' : 'the last kind'));
        $get = fn (array $query): string => $this->handler()->handle(new Request('GET', '/errors', $query + ['queue' => 'errors']))->body;
        $first = $get([]);
        $this->assertStringContainsString('<td class="number">500</td>', $first);
        $this->assertSame(1, preg_match('~href="/errors\?queue=errors&amp;after=([\w-]+)"~', $first, $next), $first);
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
        $this->assertSame(2, substr_count($errors, ': timeout after </bdi>'));
        $do = fn (string $action, array $form): string => $this->handler()->handle($this->change("/found/$action", $form + ['queue' => $name]))->headers['location'] ?? 'none';
        $this->assertStringEndsWith('done=1&told=found', $do('kick', ['state' => 'buried', 'error' => 'x: timeout']));
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
}
