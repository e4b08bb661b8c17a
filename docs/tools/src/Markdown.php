<?php

declare(strict_types=1);

namespace DelayQueue\Docs;

/** Where code is in a Markdown text, so that nobody takes it for prose. */
final class Markdown
{
    private const FENCE = '/^( *)(```+)(.*)$/';

    /** @param callable(string): string $change of prose: of everything but fenced blocks and code spans */
    public static function outsideOfCode(string $markdown, callable $change): string
    {
        $text = '';
        foreach (self::parts($markdown) as [$isCode, $part]) {
            if ($isCode) {
                $text .= $part;
                continue;
            }
            $pieces = preg_split('/(`+[^`]+`+)/', $part, -1, PREG_SPLIT_DELIM_CAPTURE);
            // A link's text may be a code span: its target follows in the next piece.
            foreach ($pieces as $number => $piece) {
                $text .= $number % 2 === 1 ? $piece : $change($piece);
            }
        }

        return $text;
    }

    /** @return list<array{bool, string}> is it a fenced block; its lines with their ends */
    public static function parts(string $markdown): array
    {
        $parts = [];
        $fence = null;
        foreach (preg_split('/(?<=\n)/', $markdown, -1, PREG_SPLIT_NO_EMPTY) as $line) {
            $isFence = preg_match(self::FENCE, rtrim($line, "\n"), $found) === 1;
            $opens = $fence === null && $isFence;
            if ($opens || $parts === [] || (!$isFence && $fence === null && $parts[count($parts) - 1][0])) {
                $parts[] = [$opens, ''];
            }
            $parts[count($parts) - 1][1] .= $line;
            if ($opens) {
                $fence = $found[2];
            } elseif ($fence !== null && $isFence && trim($found[3]) === '' && strlen($found[2]) >= strlen($fence)) {
                $fence = null;
            }
        }

        return $parts;
    }
}
