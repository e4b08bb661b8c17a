<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard;

/** The outcome of a change, and the page that shows it. */
final class Done
{
    /** @param array<string, string> $parameters of the page */
    public function __construct(public readonly Told $told, public readonly string $page, public readonly array $parameters)
    {
    }

    /** For the log of changes: 'cancelled, queue orders, id order-4711'. */
    public function words(): string
    {
        $parts = array_map(static fn (string $value, string $name): string => "$name $value", $this->parameters, array_keys($this->parameters));

        return implode(', ', [$this->told->value, ...$parts]);
    }
}
