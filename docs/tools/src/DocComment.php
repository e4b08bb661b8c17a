<?php

declare(strict_types=1);

namespace DelayQueue\Docs;

/** The parts of a comment of the stub, as Markdown. A tag ends at the next one or at an empty line. */
final class DocComment
{
    public readonly string $prose;

    /** @var list<array{string, string, string}> type, name with its dollar sign, meaning */
    public readonly array $params;

    /** @var array{string, string}|null type, meaning */
    public readonly ?array $returns;

    /** @var list<array{string, string}> type, meaning */
    public readonly array $throws;

    /** @var array<string, string> of @psalm-type */
    public readonly array $types;

    public function __construct(string $comment)
    {
        $prose = $params = $throws = $types = [];
        $returns = null;
        foreach (self::blocks($comment) as $block) {
            if (preg_match('/^@param (.+?) (?:\.\.\.)?(\$\w+)\s*(.*)$/s', $block, $found)) {
                $params[] = [$found[1], $found[2], self::markdown($found[3])];
            } elseif (preg_match('/^@return ((?:[^\s<{]|(?<in><(?:[^<>]|(?&in))*>)|(?<of>\{(?:[^{}]|(?&of))*\}))+)\s*(?<meaning>.*)$/s', $block, $found)) {
                $returns = [$found[1], self::markdown($found['meaning'])];
            } elseif (preg_match('/^@throws (\S+)\s*(.*)$/s', $block, $found)) {
                $throws[] = [$found[1], self::markdown($found[2])];
            } elseif (preg_match('/^@psalm-type (\w+) = (.+)$/s', $block, $found)) {
                $types[$found[1]] = $found[2];
            } elseif (!str_starts_with($block, '@')) {
                $prose[] = self::markdown($block);
            }
        }
        $this->prose = implode("\n\n", $prose);
        [$this->params, $this->returns, $this->throws, $this->types] = [$params, $returns, $throws, $types];
    }

    /** @return list<string> paragraphs and tags */
    private static function blocks(string $comment): array
    {
        $blocks = [];
        $isOpen = false;
        foreach (explode("\n", (string) preg_replace('~^\s*/\*\*|\*/\s*$~', '', $comment)) as $line) {
            $line = rtrim((string) preg_replace('/^\s*\* ?/', '', $line));
            $isTag = str_starts_with(ltrim($line), '@');
            if ($line === '') {
                $isOpen = false;
            } elseif ($isTag || !$isOpen) {
                $blocks[] = ltrim($line);
                $isOpen = true;
            } else {
                $blocks[count($blocks) - 1] .= "\n$line";
            }
        }

        return $blocks;
    }

    /** One line; names of variables, methods and literals as code. */
    private static function markdown(string $text): string
    {
        $line = trim((string) preg_replace('/\s+/', ' ', $text));
        $pieces = preg_split('/(`[^`]*`)/', $line, -1, PREG_SPLIT_DELIM_CAPTURE);
        foreach ($pieces as $number => $piece) {
            if ($number % 2 === 0) {
                $piece = (string) preg_replace('/(?<![\w`])(\\\\?[A-Z]\w+::\w+(?:\(\))?|\$\w+|\w+\(\)|\'[^\']*\'|\[[A-Za-z0-9._:\-\]]+\]|\w*<[^>]*>|\\\\(?:Type|Value)?Error)(?!`)/', '`$1`', $piece);
                $pieces[$number] = strtr($piece, ['*' => '\*', '_' => '_']);
            }
        }

        return implode('', $pieces);
    }
}
