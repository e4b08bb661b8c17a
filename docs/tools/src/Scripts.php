<?php

declare(strict_types=1);

namespace DelayQueue\Docs;

/** The page of the Lua scripts: the header of each file, which a test of the core holds to the body. */
final class Scripts
{
    public static function page(string $folder): string
    {
        $page = "# The scripts\n\nThe header of each file in `lua/`, word for word: a test of the core holds it to the body. [The protocol](protocol.md) says what "
            . "the keys hold and which rules all scripts keep.\n";
        foreach (glob("$folder/*.lua") as $file) {
            $header = [];
            foreach (file($file, FILE_IGNORE_NEW_LINES) as $line) {
                if (!str_starts_with($line, '--') || str_starts_with($line, '--@')) {
                    break;
                }
                $header[] = substr($line, 3);
            }
            $what = ucfirst(explode(': ', array_shift($header), 2)[1]);
            $page .= sprintf("\n## %s\n\n%s\n\n```text\n%s\n```\n", basename($file, '.lua'), self::escape($what), implode("\n", $header));
        }

        return $page;
    }

    private static function escape(string $prose): string
    {
        return addcslashes($prose, '*_<');
    }
}
