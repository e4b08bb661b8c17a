<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

/** A part of the report. */
interface Section
{
    public function name(): string;

    public function toMarkdown(): string;

    /** @return array<string, mixed> for the JSON file */
    public function toArray(): array;
}
