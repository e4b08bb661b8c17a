<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

/** What another program printed. */
final class Text implements Section
{
    public function __construct(private readonly string $name, private readonly string $title, private readonly string $text)
    {
    }

    public function name(): string
    {
        return $this->name;
    }

    public function toMarkdown(): string
    {
        return "## $this->title\n\n```\n" . trim($this->text) . "\n```\n";
    }

    public function toArray(): array
    {
        return ['title' => $this->title, 'text' => $this->text];
    }
}
