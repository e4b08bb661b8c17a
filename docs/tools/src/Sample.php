<?php

declare(strict_types=1);

namespace DelayQueue\Docs;

use RuntimeException;

/**
 * A code block of a document. A line before it may say how it is run:
 *
 *     <!-- sample: in NAME -->           by tests/docs/contexts/NAME.php
 *     <!-- sample: until TEXT -->        it goes on until it is ended; it has to print TEXT before
 *     <!-- sample: prints -->            it is what the sample before prints; … stands for anything
 *     <!-- sample: not run: REASON -->   it cannot be run here
 *
 * Without one it is run, or checked, by what its language and title say: see tests/docs/support/.
 */
final class Sample
{
    private const FENCE = '/^( *)(```+) *([\w-]*)(?: +title="([^"]*)")? *$/';

    private const MARK = '/^ *<!-- sample: (.+) -->$/';

    private function __construct(
        /** The document's path in the project. */
        public readonly string $document,
        public readonly int $line,
        public readonly string $language,
        /** The name of the file that it is, or ''. */
        public readonly string $title,
        public readonly string $code,
        public readonly ?string $context,
        public readonly ?string $until,
        public readonly bool $isOutput,
        /** Why it is not run, or null. */
        public readonly ?string $notRun,
    ) {
    }

    /** @return list<self> */
    public static function of(string $document, string $markdown): array
    {
        $samples = [];
        $line = 1;
        $before = '';
        foreach (Markdown::parts($markdown) as [$isCode, $part]) {
            if ($isCode) {
                $samples[] = self::make($document, $line, $part, $before);
            }
            $line += substr_count($part, "\n");
            $before = $part;
        }

        return $samples;
    }

    public function name(): string
    {
        return "$this->document:$this->line" . ($this->title === '' ? '' : " ($this->title)");
    }

    private static function make(string $document, int $line, string $block, string $before): self
    {
        $lines = explode("\n", rtrim($block, "\n"));
        if (!preg_match(self::FENCE, $lines[0], $fence)) {
            throw new RuntimeException("$document:$line: this fence is not understood: $lines[0]");
        }
        $lines = array_slice($lines, 1, -1);
        $indent = strlen($fence[1]);
        $code = implode("\n", array_map(static fn (string $text): string => substr($text, min($indent, strspn($text, ' '))), $lines)) . "\n";
        $above = explode("\n", rtrim($before, "\n"));
        $mark = preg_match(self::MARK, end($above), $found) ? $found[1] : '';
        $is = static fn (string $pattern): ?string => preg_match($pattern, $mark, $match) ? $match[1] : null;
        [$context, $until, $prints, $notRun] = [$is('/^in (\S+)$/'), $is('/^until (.+)$/'), $is('/^(prints)$/'), $is('/^not run: (.+)$/')];
        if ($mark !== '' && [$context, $until, $prints, $notRun] === [null, null, null, null]) {
            throw new RuntimeException("$document:$line: this mark is not understood: $mark");
        }

        return new self($document, $line, $fence[3], $fence[4] ?? '', $code, $context, $until, $prints !== null, $notRun);
    }
}
