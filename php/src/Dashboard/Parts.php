<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard;

/** Pieces that several pages have. */
final class Parts
{
    /**
     * @param list<string> $heads a name that ends with # is of a column of numbers
     * @param list<list<mixed>> $rows cells are children of an element
     */
    public static function table(string $caption, array $heads, array $rows, string $empty): Html
    {
        if ($rows === []) {
            return Html::p($empty, class: 'empty');
        }
        $class = array_map(static fn (string $head): ?string => str_ends_with($head, '#') ? 'number' : null, $heads);
        $cell = static fn (mixed $content, ?string $class): Html => Html::td($content, class: $class);

        return Html::div(
            Html::table(
                Html::caption($caption),
                Html::thead(Html::tr(array_map(static fn (string $head, ?string $class): Html => Html::th(rtrim($head, '#'), scope: 'col', class: $class), $heads, $class))),
                Html::tbody(array_map(static fn (array $row): Html => Html::tr(array_map($cell, $row, $class)), $rows)),
            ),
            class: 'wide',
            tabindex: '0',
            role: 'region',
            aria_label: $caption,
        );
    }

    /** @param array<string, mixed> $facts by their names; null: left out */
    public static function facts(array $facts): Html
    {
        $pairs = [];
        foreach ($facts as $name => $fact) {
            $fact === null || $pairs[] = [Html::dt($name), Html::dd($fact)];
        }

        return Html::dl($pairs);
    }

    /**
     * A form that changes something.
     *
     * @param array<string, string|null> $hidden
     */
    public static function form(Site $site, string $action, array $hidden, string $button, mixed ...$fields): ?Html
    {
        if (!$site->mayWrite()) {
            return null;
        }
        $inputs = [];
        foreach ($hidden as $name => $value) {
            $value === null || $inputs[] = Html::input(type: 'hidden', name: $name, value: $value);
        }

        return Html::form($inputs, ...[...$fields, Html::button($button), 'method' => 'post', 'action' => $site->url($action)]);
    }

    /**
     * A form whose change cannot be undone: its button shows only after a first click.
     *
     * @param array<string, string|null> $hidden
     */
    public static function danger(Site $site, string $action, array $hidden, string $words, string $button): ?Html
    {
        return $site->mayWrite() ? Html::details(Html::summary($words), self::form($site, $action, $hidden, $button), class: 'danger') : null;
    }

    public static function field(string $label, string $name, string $value = '', string $placeholder = '', int $size = 12): Html
    {
        return Html::label("$label ", Html::input(name: $name, value: $value, placeholder: $placeholder ?: null, size: (string) $size));
    }

    /**
     * @param array<string, string> $options labels by their values
     */
    public static function choice(string $label, string $name, array $options, string $chosen = ''): Html
    {
        $each = static fn (string $text, int|string $value): Html => Html::option($text, value: (string) $value, selected: (string) $value === $chosen);

        return Html::label("$label ", Html::select(array_map($each, $options, array_keys($options)), name: $name));
    }

    /** A part of the page that the script replaces while the page stays open. */
    public static function live(string $id, mixed ...$children): Html
    {
        return Html::section(...[...$children, 'id' => $id, 'data_live' => true]);
    }
}
