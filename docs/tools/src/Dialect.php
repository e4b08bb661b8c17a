<?php

declare(strict_types=1);

namespace DelayQueue\Docs;

/**
 * The documents are written for GitHub; MkDocs reads another Markdown: what belongs to a list item has to be indented by four, a list needs
 * an empty line before it, and a pipe in a code span of a table is not escaped.
 */
final class Dialect
{
    private const ITEM = '/^( *)([-*]|\d+\.)( +)(?=\S)/';

    public static function translate(string $markdown): string
    {
        $lines = [];
        /** @var list<int> $items the columns at which the contents of the open list items begin */
        $items = [];
        $isParagraph = false;
        foreach (Markdown::parts(self::withoutComments($markdown)) as [$isCode, $part]) {
            if ($isCode) {
                $items = self::open($items, strspn($part, ' '));
                // Coloured as PHP without the opening tag as well.
                $part = (string) preg_replace('/^( *`+)php(?= |\n)(?!.*\n *<\?php)/', '$1php-inline', $part);
            }
            foreach (explode("\n", rtrim($part, "\n")) as $line) {
                if (!$isCode) {
                    $before = (string) (end($lines) ?: '');
                    $isItem = preg_match(self::ITEM, $line) === 1;
                    // After a paragraph Python-Markdown takes the marker for a word of it.
                    if ($isItem && trim($before) !== '' && ($items === [] || $isParagraph)) {
                        $lines[] = '';
                    }
                    $isParagraph = !$isItem && (trim($before) === '' || $isParagraph);
                    $items = self::step($items, $line, $before);
                    $line = self::unescapePipes($line);
                }
                $lines[] = self::indent($items, $line, $isCode);
            }
            if (!$isCode && str_ends_with($part, "\n\n")) {
                $lines[] = '';
            }
        }

        return implode("\n", $lines) . "\n";
    }

    private static function withoutComments(string $markdown): string
    {
        return implode('', array_map(
            static fn (array $part): string => $part[0] ? $part[1] : (string) preg_replace('/^ *<!--.*?-->\n?/ms', '', $part[1]),
            Markdown::parts($markdown),
        ));
    }

    /**
     * @param list<int> $items
     *
     * @return list<int> the items that are open after this line
     */
    private static function step(array $items, string $line, string $before): array
    {
        if (trim($line) === '') {
            return $items;
        }
        $column = strspn($line, ' ');
        if (preg_match(self::ITEM, $line, $found)) {
            return [...self::open($items, $column), strlen($found[0])];
        }

        // A paragraph may go on at any column.
        return trim($before) === '' ? self::open($items, $column) : $items;
    }

    /** The items that something at this column belongs to. */
    private static function open(array $items, int $column): array
    {
        return array_values(array_filter($items, static fn (int $content): bool => $content <= $column));
    }

    /** @param list<int> $items */
    private static function indent(array $items, string $line, bool $isCode): string
    {
        if ($items === [] || trim($line) === '') {
            return $line;
        }
        $isItem = !$isCode && preg_match(self::ITEM, $line) === 1;
        $depth = count($items) - ($isItem ? 1 : 0);
        $column = $isItem ? strspn($line, ' ') : min(strspn($line, ' '), $items[count($items) - 1]);

        return str_repeat('    ', $depth) . substr($line, $column);
    }

    private static function unescapePipes(string $line): string
    {
        if (!str_starts_with($line, '|')) {
            return $line;
        }

        return (string) preg_replace_callback('/`[^`]+`/', static fn (array $code): string => str_replace('\|', '|', $code[0]), $line);
    }
}
