<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard;

use DelayQueue\Console\Nearest;

/** What stands in the place of a page about a queue that is none. */
final class NoQueue
{
    /** @return list<Html|null> */
    public static function body(string $name, Site $site): array
    {
        $near = array_map(
            static fn (string $name): Html => Html::li(Html::a(Html::stored($name), href: $site->url('/queue', ['queue' => $name]))),
            Nearest::of($name, $site->anywhere->queues()),
        );

        return [
            Html::p('A queue is there once a job was pushed to it, or while it is paused, limited or served by a worker.', class: 'told'),
            $near === [] ? null : [Html::p('These are called like that:'), Html::ul($near)],
            Html::p(Html::a('All queues', href: $site->url('/'))),
        ];
    }
}
