<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard\Pages;

use DelayQueue\Dashboard\Html;
use DelayQueue\Dashboard\Page;
use DelayQueue\Dashboard\Parts;
use DelayQueue\Dashboard\Request;
use DelayQueue\Dashboard\Site;
use DelayQueue\Dashboard\Words;
use DelayQueue\WorkerOrder;

/** The workers that run now, and orders to them. */
final class WorkersPage implements Page
{
    private const MOST = 200;

    public function title(Request $request): string
    {
        return 'Workers';
    }

    public function body(Request $request, Site $site): array
    {
        $queue = $request->query('queue');
        $workers = $site->anywhere->workers(queue: $queue);
        $rows = array_map(static fn (array $worker): array => self::row($worker, $site), array_slice($workers, 0, self::MOST));

        return [
            $queue === null ? null : Html::p('Of queue ', Html::stored($queue), ' · ', Html::a('all workers', href: $site->url('/workers'))),
            Parts::live(
                'workers',
                Parts::table('Workers', ['Worker', 'State', 'Job', 'For', 'Memory#', 'Up', 'Version', 'Queues', 'Orders'], $rows, 'No worker runs.'),
                count($workers) > self::MOST ? Html::p(Words::number(self::MOST) . ' of ' . Words::number(count($workers)) . ' workers.') : null,
            ),
        ];
    }

    /**
     * @param array<string, mixed> $worker of DelayQueue::workers()
     *
     * @return list<mixed>
     */
    private static function row(array $worker, Site $site): array
    {
        ['job' => $job, 'seenAt' => $seenAt] = $worker;
        // Up to when it wrote this, so that both moments are of one clock.
        $since = static fn (float $moment): string => Words::length(max(0, $seenAt - $moment));
        $hidden = ['host' => $worker['host'], 'pid' => (string) $worker['pid']];
        $orders = [WorkerOrder::Stop, WorkerOrder::Restart, $worker['state'] === 'paused' ? WorkerOrder::Resume : WorkerOrder::Pause];

        return [
            Html::stored("{$worker['host']}:{$worker['pid']}"),
            [$worker['state'], $worker['orders'] === [] ? null : Html::span('told to ' . implode(', ', $worker['orders']), class: 'quiet')],
            $job === null ? '' : Html::a(Html::stored("{$job['queue']} {$job['id']}", 60), href: $site->url('/job', ['queue' => $job['queue'], 'id' => $job['id']])),
            $job === null ? '' : $since($job['since']),
            $worker['memory'] === null ? '' : sprintf('%.0f MB', $worker['memory'] / 1e6),
            $since($worker['startedAt']),
            Html::stored($worker['version'], 20),
            Html::stored(implode(', ', $worker['queues']), 60),
            array_map(static fn (WorkerOrder $order): ?Html => Parts::form($site, '/worker', $hidden + ['order' => $order->value], ucfirst($order->value)), $orders),
        ];
    }
}
