<?php

declare(strict_types=1);

namespace DelayQueue\Docs;

use RuntimeException;

/** Links of the documents, which name files of the project, as links between pages of the site. */
final class Links
{
    /** @param array<string, string> $places path in the project => path on the site */
    public function __construct(private readonly array $places)
    {
    }

    /** @param string $from the document's path in the project */
    public function rewrite(string $markdown, string $from, string $page): string
    {
        return Markdown::outsideOfCode($markdown, fn (string $text): string => (string) preg_replace_callback(
            '/\]\(([^()\s]+)\)/',
            fn (array $found): string => '](' . $this->target($found[1], $from, $page) . ')',
            $text,
        ));
    }

    /** The path in the project that a document means. */
    public static function resolve(string $from, string $target): string
    {
        $parts = [];
        foreach (explode('/', dirname($from) . '/' . $target) as $part) {
            if ($part === '..') {
                array_pop($parts);
            } elseif ($part !== '.' && $part !== '') {
                $parts[] = $part;
            }
        }

        return implode('/', $parts);
    }

    private function target(string $target, string $from, string $page): string
    {
        if (preg_match('~^([a-z]+:|#)~', $target)) {
            return $target;
        }
        [$file, $anchor] = explode('#', $target, 2) + [1 => ''];
        $path = self::resolve($from, $file);
        $anchor = $anchor === '' ? '' : "#$anchor";
        if (!isset($this->places[$path])) {
            throw new RuntimeException("$from links to $path, which is not on the site: give it a place in docs/tools/src/Site.php");
        }

        return str_repeat('../', substr_count($page, '/')) . $this->places[$path] . $anchor;
    }
}
