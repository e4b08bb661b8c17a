<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Dashboard;

use DelayQueue;
use DelayQueue\Dashboard\Access;
use DelayQueue\Dashboard\Handler;
use DelayQueue\Dashboard\Request;
use DelayQueue\Dashboard\Response;
use DelayQueue\Database\Journal;
use DelayQueue\Database\Schema;
use DelayQueue\JobInfo;
use DelayQueue\Schedule\Every;
use DelayQueue\Schedule\Schedules;
use DelayQueue\State;
use PDO;
use RuntimeException;

/** The dashboard without a browser: who may do what, what a page may contain, what an action does. */
final class HandlerTest extends DashboardCase
{
    public function testWithoutAccessThereIsNothing(): void
    {
        foreach (['/', '/queue', '/style.css', '/none'] as $path) {
            $this->assertSame(403, $this->handler(Access::None)->handle(new Request('GET', $path))->status, $path);
        }
        $this->assertSame(403, $this->handler(Access::None)->handle(new Request('POST', '/queue/pause', [], ['queue' => 'default'], self::FROM_HERE))->status);
    }

    public function testReadersChangeNothingAndAreOfferedNoChange(): void
    {
        $queue = $this->delayQueue();
        $queue->push(1, id: 'a');
        $handler = $this->handler(Access::Read);
        foreach (['/' => [], '/queue' => ['queue' => $queue->name()], '/job' => ['queue' => $queue->name(), 'id' => 'a'], '/workers' => []] as $path => $query) {
            $page = $handler->handle(new Request('GET', $path, $query));
            $this->assertSame(200, $page->status, $path);
            $this->assertStringNotContainsString('method="post"', $page->body, $path);
        }
        $this->assertSame(403, $handler->handle($this->change('/job/cancel', ['queue' => $queue->name(), 'id' => 'a']))->status);
        $this->assertNotNull($queue->peek('a'));
    }

    public function testTheRuleIsAskedForEachRequestAndMayDecideByItsPath(): void
    {
        $queue = $this->delayQueue();
        $queue->push(1, id: 'a', delay: '1h');
        $handler = new Handler($queue, static fn (Request $request): Access => str_ends_with($request->path, '/cancel') ? Access::Read : Access::Write);
        $form = ['queue' => $queue->name(), 'id' => 'a'];
        $this->assertSame([403, 303], [$handler->handle($this->change('/job/cancel', $form))->status, $handler->handle($this->change('/job/kick', $form))->status]);
        $this->assertSame(State::Ready, $queue->peek('a')->state);
    }

    public function testAChangeComesFromAPageOfThisSite(): void
    {
        $queue = $this->delayQueue();
        $queue->push(1, id: 'a');
        $form = ['queue' => $queue->name(), 'id' => 'a'];
        $strangers = [
            [], ['sec-fetch-site' => 'cross-site'], ['sec-fetch-site' => 'same-site'], ['sec-fetch-site' => 'none'],
            ['origin' => 'https://evil.example', 'host' => 'shop.example'], ['origin' => 'null', 'host' => 'null'],
            ['origin' => 'https://shop.example:8443', 'host' => 'shop.example'],
        ];
        foreach ($strangers as $headers) {
            $this->assertSame(403, $this->handler()->handle(new Request('POST', '/job/cancel', [], $form, $headers))->status, json_encode($headers));
        }
        $this->assertNotNull($queue->peek('a'));
        $this->assertSame(405, $this->handler()->handle(new Request('PUT', '/job/cancel', [], $form, self::FROM_HERE))->status);
        $old = ['origin' => 'https://shop.example:8443', 'host' => 'shop.example:8443'];
        $this->assertSame(303, $this->handler()->handle(new Request('POST', '/job/cancel', [], $form, $old))->status);
        $this->assertNull($queue->peek('a'));
    }

    public function testEachActionDoesWhatItSaysAndIsTold(): void
    {
        $queue = $this->delayQueue();
        $name = $queue->name();
        $told = [];
        $handler = $this->handler(changed: static function (string $words) use (&$told): void {
            $told[] = $words;
        });
        $do = fn (string $path, array $form): Response => $handler->handle($this->change($path, $form + ['queue' => $name]));

        $this->assertSame("/dq/job?queue=$name&id=a&told=pushed", $do('/job/push', ['payload' => '{"n":1,"o":{}}', 'delay' => '1h', 'id' => 'a'])->headers['location']);
        $this->assertSame('{"n":1,"o":{}}', $queue->peek('a')->body);
        $do('/job/reschedule', ['id' => 'a', 'delay' => '2h']);
        $this->assertEqualsWithDelta($queue->now() + 7200, $queue->peek('a')->dueAt, 60);
        $do('/job/update', ['id' => 'a', 'payload' => '[2]']);
        $this->assertSame([2], $queue->peek('a')->payload);
        $do('/job/kick', ['id' => 'a']);
        $this->assertSame(State::Ready, $queue->peek('a')->state);
        $do('/queue/pause', ['for' => '15m']);
        $this->assertTrue($queue->isPaused());
        $do('/queue/resume', []);
        $this->assertFalse($queue->isPaused());
        $do('/job/cancel', ['id' => 'a']);
        $this->assertNull($queue->peek('a'));
        $this->assertStringEndsWith('told=unchanged', $do('/job/cancel', ['id' => 'a'])->headers['location']);
        $this->assertStringEndsWith('told=no-worker', $do('/worker', ['host' => 'nowhere', 'pid' => '1', 'order' => 'stop'])->headers['location']);
        $this->assertSame(
            ["pushed, queue $name, id a", "rescheduled, queue $name, id a", "updated, queue $name, id a", "kicked, queue $name, id a",
                "paused, queue $name", "resumed, queue $name", "cancelled, queue $name, id a", "unchanged, queue $name, id a", 'no-worker, host nowhere, pid 1, order stop'],
            $told,
        );
    }

    public function testAPayloadIsStoredAsItWasWrittenWhateverTheFormatOfTheQueue(): void
    {
        foreach (['json', 'raw'] as $format) {
            $queue = $this->delayQueue('default', ['format' => $format]);
            $handler = new Handler($queue, static fn (): Access => Access::Write);
            $form = ['queue' => 'default', 'id' => "of-$format"];
            $handler->handle($this->change('/job/push', $form + ['payload' => '{"a":{},"big":12345678901234567890}']));
            $this->assertSame('{"a":{},"big":12345678901234567890}', $queue->peek("of-$format")->body);
            $handler->handle($this->change('/job/update', $form + ['payload' => '[1.50]']));
            $this->assertSame('[1.50]', $queue->peek("of-$format")->body);
        }
    }

    public function testWhatCannotBeDoneIsSaid(): void
    {
        $name = $this->delayQueue()->name();
        foreach ([
            ['/job/push', ['payload' => '{'], 'no JSON'], ['/job/push', ['payload' => '1', 'delay' => 'soon'], 'delay'], ['/job/push', [], 'payload is missing'],
            ['/job/cancel', [], 'id is missing'], ['/worker', ['host' => 'a', 'pid' => '1', 'order' => 'dance'], 'no such order'],
        ] as [$path, $form, $message]) {
            $answer = $this->handler()->handle($this->change($path, $form + ['queue' => $name]));
            $this->assertSame(400, $answer->status, $path);
            $this->assertStringContainsString($message, $answer->body);
        }
        $this->assertSame(404, $this->handler()->handle($this->change('/job/explode', []))->status);
        $this->assertSame(404, $this->handler()->handle(new Request('GET', '/nowhere'))->status);
        $away = new Handler(new DelayQueue('q', 'redis://127.0.0.1:1'), static fn (): Access => Access::Read);
        $this->assertSame(503, $away->handle(new Request('GET', '/'))->status);
    }

    public function testStoredTextsAreTextsOnEveryPage(): void
    {
        $evil = '<script>alert(1)</script>"\'&<b>';
        $queue = $this->delayQueue();
        $queue->push($evil, id: $evil, headers: ['x' => $evil], group: $evil, maxAttempts: 1);
        $queue->push("\u{202E}live", id: "rtl\u{202E}live");
        $queue->push(str_repeat('x', 1_000_000), id: 'long');
        $queue->reserveJob($evil)->fail(new RuntimeException($evil));
        $pages = [
            ['/queue', ['state' => 'buried']],
            ['/queue', ['state' => 'ready']],
            ['/job', ['id' => $evil]],
            ['/job', ['id' => "rtl\u{202E}live"]],
            ['/job', ['id' => 'long']],
            ['/job', ['id' => $evil . '!']],
            ['/queue', ['state' => $evil, 'range' => $evil, 'after' => $queue->peek($evil)->place()]],
            ['/', ['name' => $evil]],
            ['/workers', ['queue' => $queue->name(), 'told' => $evil]],
        ];
        foreach ($pages as [$path, $query]) {
            $page = $this->handler()->handle(new Request('GET', $path, $query + ['queue' => $queue->name()]));
            $this->assertSame(200, $page->status, $path . $page->body);
            $this->assertStringNotContainsString('<script>a', $page->body);
            $this->assertStringNotContainsString('<b>"', $page->body);
            // A field of a form has the stored bytes as its value.
            $seen = preg_replace('/ value="[^"]*"|<textarea[^>]*>[^<]*/', '', $page->body);
            $this->assertStringNotContainsString("\u{202E}", $seen);
            $this->assertLessThan(200_000, strlen($page->body));
        }
    }

    public function testPayloadsCanBeHiddenOrMasked(): void
    {
        $queue = $this->delayQueue();
        $queue->push(['card' => '4111111111111111'], id: 'a');
        foreach ([[static fn (JobInfo $job): ?string => null, 'hidden'], [static fn (JobInfo $job): string => '{"card":"***"}', '***']] as [$mask, $shown]) {
            $handler = new Handler($queue, static fn (): Access => Access::Write, $mask);
            foreach ([['/queue', []], ['/job', ['id' => 'a']]] as [$path, $query]) {
                $page = $handler->handle(new Request('GET', $path, $query + ['queue' => $queue->name()]))->body;
                $this->assertStringNotContainsString('4111', $page);
                $this->assertStringContainsString($shown, $page);
            }
        }
    }

    public function testSealedPayloadsAreShownOnlyWithTheKeys(): void
    {
        $sealed = $this->delayQueue('sealed', ['keys' => ['one' => str_repeat('k', 32)]]);
        $sealed->push(['card' => '4111'], id: 'a', delay: '1h');
        foreach ([[$sealed, true], [$this->delayQueue('default'), false]] as [$queue, $hasKeys]) {
            $handler = new Handler($queue, static fn (): Access => Access::Write);
            foreach ([['/queue', ['state' => 'delayed']], ['/job', ['id' => 'a']]] as [$path, $query]) {
                $page = $handler->handle(new Request('GET', $path, $query + ['queue' => 'sealed']));
                $this->assertSame([200, $hasKeys], [$page->status, str_contains($page->body, '4111')], $path);
                $this->assertStringContainsString('id=a"', $handler->handle(new Request('GET', '/queue', ['queue' => 'sealed', 'state' => 'delayed']))->body);
            }
        }
    }

    public function testAPageThatHasNotChangedIsNotSentAgain(): void
    {
        $queue = $this->delayQueue('of-etags');
        $queue->pause();
        $get = fn (array $headers): Response => $this->handler()->handle(new Request('GET', '/queue', ['queue' => 'of-etags', 'range' => 'month'], [], $headers));
        $first = $get([]);
        $this->assertStringContainsString("default-src 'none'", $first->headers['content-security-policy']);
        $this->assertSame('nosniff', $first->headers['x-content-type-options']);
        $again = $get(['if-none-match' => $first->headers['etag']]);
        $this->assertSame([304, ''], [$again->status, $again->body]);
        $queue->push(1, delay: '2h');
        $this->assertSame(200, $get(['if-none-match' => $first->headers['etag']])->status);
    }

    public function testSchedulesAreShownAndChanged(): void
    {
        $evil = '<b>"evil"';
        $schedules = new Schedules($this->delayQueue('schedules'));
        $schedules->set($evil, Every::interval('1h'), queue: 'polls');
        $get = fn (array $query = []): string => $this->handler()->handle(new Request('GET', '/schedules', $query))->body;
        $do = fn (string $action): string => $this->handler()->handle($this->change("/schedule/$action", ['queue' => 'schedules', 'name' => $evil]))->headers['location'];
        $this->assertStringContainsString('&lt;b&gt;', $get());
        $this->assertStringNotContainsString('<b>', $get());
        $this->assertStringContainsString('no schedule', $get(['name' => 'other']));
        $this->assertStringEndsWith('told=schedule-paused', $do('pause'));
        $this->assertTrue($schedules->get($evil)->paused);
        $this->assertStringContainsString('paused', $get());
        $this->assertStringEndsWith('told=schedule-resumed', $do('resume'));
        $this->assertStringEndsWith('told=schedule-run', $do('run'));
        $this->assertSame(1, $this->delayQueue('polls')->count());
        $this->assertStringEndsWith('told=schedule-removed', $do('remove'));
        $this->assertStringEndsWith('told=no-schedule', $do('remove'));
        $this->assertNull($schedules->get($evil));
    }

    public function testGroupsAreShownAndChanged(): void
    {
        $queue = $this->delayQueue();
        $queue->push(1, group: '<b>g');
        $do = fn (string $action, array $form = []): string => $this->handler()->handle($this->change("/group/$action", $form + ['queue' => $queue->name(), 'group' => '<b>g']))->headers['location'];
        $page = $this->handler()->handle(new Request('GET', '/groups', ['queue' => $queue->name()]))->body;
        $this->assertStringContainsString('&lt;b&gt;g', $page);
        $this->assertStringNotContainsString('<b>', $page);
        $this->assertStringEndsWith('told=group-closed', $do('pause', ['for' => '15m']));
        $this->assertTrue($queue->isPaused('<b>g'));
        $this->assertStringEndsWith('told=group-opened', $do('resume'));
        $this->assertFalse($queue->isPaused('<b>g'));
        $this->assertStringEndsWith('done=1&left=0&told=found', $do('cancel'));
        $this->assertSame(0, $queue->count());
    }

    public function testTheJournalShowsJobsThatHaveEnded(): void
    {
        $database = new PDO('sqlite::memory:', null, null, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
        Schema::install($database, jobs: true);
        $journal = new Journal($database, payloads: true);
        $queue = $journal->watch($this->delayQueue());
        $queue->push(['card' => '4111'], id: 'ended', maxAttempts: 1);
        $queue->drain(static fn () => throw new RuntimeException('<i>no stock</i>'));
        $queue->cancel('ended');
        $get = static fn (Handler $handler, string $path, array $query): string => $handler->handle(new Request('GET', $path, $query))->body;

        $all = new Handler($queue, static fn (): Access => Access::Read, journal: $journal);
        $this->assertStringContainsString('ended', $get($all, '/journal', ['contains' => '4111']));
        $this->assertStringNotContainsString('>ended<', $get($all, '/journal', ['contains' => '4112']));
        $job = $get($all, '/job', ['queue' => $queue->name(), 'id' => 'ended']);
        $this->assertStringContainsString('There is no such job', $job);
        $this->assertStringContainsString('&lt;i&gt;no stock', $job);
        // Whether a payload has some bytes would tell what it is.
        $masked = new Handler($queue, static fn (): Access => Access::Read, static fn (): ?string => null, $journal);
        foreach (['4111', '4112'] as $guess) {
            $this->assertStringContainsString('>ended<', $get($masked, '/journal', ['contains' => $guess]));
        }
        $this->assertStringContainsString('no journal', $get($this->handler(), '/journal', []));
    }
}
