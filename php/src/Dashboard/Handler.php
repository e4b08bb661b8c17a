<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard;

use Closure;
use DelayQueue;
use DelayQueue\ConnectionException;
use DelayQueue\Database\Journal;
use DelayQueue\Exception;
use DelayQueue\Internal\Json;
use DelayQueue\JobInfo;
use DelayQueue\SealException;
use ValueError;

/**
 * The dashboard: a request in, a response out. It uses the public classes only, so it is also an example of them.
 *
 *     $dashboard = new Handler(new DelayQueue('default'), static fn (Request $request): Access => $user->isAdmin() ? Access::Write : Access::None);
 *     $dashboard->handle(Request::fromGlobals('/delayqueue'))->send();
 *
 * It is closed unless $access opens it: nobody is let in by default. Changes need Access::Write, are POST requests, and come from a page of this site.
 */
final class Handler
{
    private const ASSETS = ['/style.css' => 'text/css', '/script.js' => 'text/javascript', '/icon.svg' => 'image/svg+xml'];

    private readonly Closure $access;

    private readonly ?Closure $payload;

    private readonly ?Closure $changed;

    private readonly ?Closure $cancel;

    /**
     * @param DelayQueue $queue any queue: its Redis and prefix are looked at, and its keys open sealed payloads
     * @param callable(Request): Access $access
     * @param (callable(JobInfo): ?string)|null $payload what may be shown of a payload: a text, or null for nothing; by default all of it
     * @param Journal|null $journal to show jobs that have ended, and how each run went
     * @param (callable(string, Request): void)|null $changed hears of each change, in words
     * @param (callable(DelayQueue, JobInfo...): int)|null $cancel cancels jobs in place of cancel() of their queue, and
     *     returns how many there were: for jobs of a framework that hold locks or count in batches
     */
    public function __construct(
        private readonly DelayQueue $queue,
        callable $access,
        ?callable $payload = null,
        private readonly ?Journal $journal = null,
        ?callable $changed = null,
        ?callable $cancel = null,
    ) {
        $this->access = $access(...);
        $this->payload = $payload === null ? null : $payload(...);
        $this->changed = $changed === null ? null : $changed(...);
        $this->cancel = $cancel === null ? null : $cancel(...);
    }

    public function handle(Request $request): Response
    {
        $access = ($this->access)($request);
        if ($access === Access::None) {
            return Response::text(403, 'You may not see this.');
        }
        if (isset(self::ASSETS[$request->path])) {
            return self::asset($request->path);
        }
        if ($request->isTooLong()) {
            return Response::text(400, 'A parameter of this address is too long.');
        }
        $payload = $this->payload ?? static fn (JobInfo $job): string => $job->body;
        $hidesPayloads = $this->payload !== null;
        $site = new Site($this->queue, $request, $access, $payload, $hidesPayloads, $this->journal, $this->cancel);
        try {
            return match ($request->method) {
                'GET', 'HEAD' => $this->page($request, $site),
                'POST' => $this->change($request, $site),
                default => Response::text(405, 'This takes GET and POST.'),
            };
        } catch (ConnectionException $error) {
            return $this->sorry(503, 'Redis cannot be reached', $error, $site);
        } catch (ValueError $error) {
            return $this->sorry(400, 'This is not understood', $error, $site);
        } catch (SealException $error) {
            return $this->sorry(409, 'This dashboard lacks the keys', $error, $site);
        } catch (Exception $error) {
            return $this->sorry(502, 'Redis refuses', $error, $site);
        }
    }

    private function page(Request $request, Site $site): Response
    {
        $page = Pages::find($request->path);
        if ($page === null) {
            return Response::text(404, 'There is no such page.');
        }
        $html = Layout::page($page->title($request), $page->body($request, $site), $site);
        $tag = '"' . hash('xxh128', $html) . '"';

        return $request->header('if-none-match') === $tag ? new Response(304, '', ['etag' => $tag]) : new Response(200, $html, ['etag' => $tag]);
    }

    private function change(Request $request, Site $site): Response
    {
        if (!$site->mayWrite()) {
            return Response::text(403, 'You may look, and change nothing.');
        }
        if (!$request->isOfThisSite()) {
            return Response::text(403, 'A change has to come from a page of this site.');
        }
        $done = (new Actions($site))->run($request->path, $request);
        if ($done === null) {
            return Response::text(404, 'There is no such action.');
        }
        $this->changed === null || ($this->changed)(Json::withoutOrders($done->words()), $request);

        return Response::seeOther($site->url($done->page, $done->parameters + ['told' => $done->told->value]));
    }

    private function sorry(int $status, string $title, \Throwable $error, Site $site): Response
    {
        return new Response($status, Layout::page($title, [Html::p(Html::stored($error->getMessage(), 2000), class: 'bad')], $site));
    }

    private static function asset(string $path): Response
    {
        $body = (string) file_get_contents(__DIR__ . "/assets$path");

        return new Response(200, $body, ['content-type' => self::ASSETS[$path] . '; charset=utf-8', 'cache-control' => 'private, max-age=300']);
    }
}
