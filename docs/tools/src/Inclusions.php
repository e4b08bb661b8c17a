<?php

declare(strict_types=1);

namespace DelayQueue\Docs;

/** A line `<!-- include: PATH -->` stands for a file of the project, shown as a code block. Readers of the source follow the link beside it. */
final class Inclusions
{
    private const LINE = '/^<!-- include: (\S+) -->$/m';

    private const LANGUAGES = ['yml' => 'yaml', 'yaml' => 'yaml', 'conf' => 'ini', 'service' => 'ini', 'timer' => 'ini', 'php' => 'php'];

    /** @param callable(string): string $read gives the content of a file that a document names */
    public static function fill(string $markdown, callable $read): string
    {
        return (string) preg_replace_callback(self::LINE, static function (array $found) use ($read): string {
            $language = self::LANGUAGES[pathinfo($found[1], PATHINFO_EXTENSION)] ?? 'text';
            $title = basename($found[1]);

            return "```$language title=\"$title\"\n" . rtrim($read($found[1])) . "\n```";
        }, $markdown);
    }
}
