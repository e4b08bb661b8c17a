<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard;

use DelayQueue;

/** The frame of all pages. */
final class Layout
{
    private const MENU = ['/' => 'Queues', '/schedules' => 'Schedules', '/workers' => 'Workers', '/journal' => 'Journal', '/health' => 'Health'];

    /** @param list<Html> $body */
    public static function page(string $title, array $body, Site $site): string
    {
        $here = $site->request->path;
        $menu = [];
        foreach (self::MENU as $path => $name) {
            if ($path === '/journal' && $site->journal === null) {
                continue;
            }
            $menu[] = Html::li(Html::a($name, href: $site->url($path), aria_current: $path === $here ? 'page' : null));
        }

        return '<!DOCTYPE html>' . Html::html(
            Html::head(
                Html::meta(charset: 'utf-8'),
                Html::meta(name: 'viewport', content: 'width=device-width, initial-scale=1'),
                Html::meta(name: 'color-scheme', content: 'light dark'),
                Html::title(Html::text($title, 80) . ' · delayqueue'),
                Html::link(rel: 'icon', type: 'image/svg+xml', href: $site->url('/icon.svg')),
                Html::link(rel: 'stylesheet', href: $site->url('/style.css')),
                Html::script(src: $site->url('/script.js'), defer: true),
            ),
            Html::body(
                Html::a('To the content', href: '#content', class: 'skip'),
                Html::header(
                    Html::nav(Html::ul($menu), aria_label: 'Pages'),
                    Html::p(
                        $site->mayWrite() ? null : 'read only · ',
                        Html::stored($site->redis()),
                        ' · prefix ',
                        Html::stored($site->anywhere->settings()->prefix),
                        ' · delayqueue ' . DelayQueue::VERSION,
                        class: 'version',
                    ),
                ),
                Html::main(Html::h1(Html::stored($title)), self::told($site), $body, id: 'content'),
                Html::p('', id: 'connection', role: 'status'),
            ),
            lang: 'en',
        );
    }

    /** Tells of the change before this page: by a sentence from here, so that no link can put words into this page. */
    private static function told(Site $site): ?Html
    {
        $told = Told::tryFrom($site->request->query('told') ?? '');

        $number = static fn (string $name): int => max(0, (int) $site->request->query($name));

        return $told === null
            ? null
            : Html::p($told->sentence($number('done'), $number('left')), role: 'status', class: 'told');
    }
}
