<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard;

use DelayQueue\Internal\Nearest;

/** The page that is shown for the name of a queue that does not exist. */
final class NoQueue
{
    /** @return list<Html|null> */
    public static function body(string $name, Site $site): array
    {
        $link = static fn (string $near): Html => Html::li(
            Html::a(Html::stored($near), href: $site->url('/queue', ['queue' => $near])),
        );
        $near = array_map($link, Nearest::of($name, $site->anywhere->queues()));

        return [
            Html::p(
                'A queue is there once a job was pushed to it, or while it is paused, limited or served by a worker.',
                class: 'told',
            ),
            $near === [] ? null : [Html::p('Queues with such a name:'), Html::ul($near)],
            Html::p(Html::a('All queues', href: $site->url('/'))),
        ];
    }
}
