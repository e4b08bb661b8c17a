<?php

declare(strict_types=1);

namespace DelayQueue\Console;

/** The queues of which a command prints the numbers. It needs no autoloader. */
final class QueueChoice
{
    /**
     * @param list<string> $words names of queues, and patterns with * and ?; none: all queues
     */
    public function __construct(private readonly array $words, private readonly int $limit)
    {
    }

    /** Whether it is a pattern. No name of a queue has such a character. */
    public static function isPattern(string $word): bool
    {
        return strpbrk($word, '*?') !== false;
    }

    public function isEmpty(): bool
    {
        return $this->words === [];
    }

    /** @return list<string> */
    public function named(): array
    {
        return array_values(array_filter($this->words, static fn (string $word): bool => !self::isPattern($word)));
    }

    /** @return list<string> */
    public function patterns(): array
    {
        return array_values(array_filter($this->words, self::isPattern(...)));
    }

    /**
     * @param callable(): list<string> $known names of all queues, in their order
     *
     * @return array{list<string>, int} the chosen ones, as many as the limit allows, and how many it leaves out
     */
    public function among(callable $known): array
    {
        $patterns = $this->patterns();
        $found = $this->words !== [] && $patterns === [] ? [] : array_filter($known(), fn (string $name): bool => $this->words === [] || self::matches($patterns, $name));
        $names = array_values(array_unique([...$this->named(), ...$found]));

        return [array_slice($names, 0, $this->limit), max(0, count($names) - $this->limit)];
    }

    /** A gauge for the page of metrics: an alert can tell that some queues are not there. */
    public static function metric(int $leftOut): string
    {
        return "# HELP delayqueue_queues_left_out Queues that --limit leaves out of this page.\n"
            . "# TYPE delayqueue_queues_left_out gauge\ndelayqueue_queues_left_out $leftOut\n";
    }

    /** @param list<string> $patterns */
    private static function matches(array $patterns, string $name): bool
    {
        foreach ($patterns as $pattern) {
            if (fnmatch($pattern, $name, FNM_NOESCAPE)) {
                return true;
            }
        }

        return false;
    }
}
