<?php

declare(strict_types=1);

namespace DelayQueue\Console;

/** Headers of a job, as the command line has them. */
final class Headers
{
    /**
     * @param list<string> $lines "name: value"; the value is every byte after the colon and the blanks that follow it
     *
     * @return array<string> values by name; the extension says which names and values it takes
     *
     * @throws UsageException that names the line by its number: a value may be secret
     */
    public static function parse(array $lines): array
    {
        $headers = [];
        foreach ($lines as $index => $line) {
            $number = $index + 1;
            [$name, $value] = explode(':', $line, 2) + [1 => null];
            if ($value === null) {
                throw new UsageException("--header number $number is not of the form 'name: value'");
            }
            if (isset($headers[$name])) {
                throw new UsageException("--header number $number says $name again");
            }
            $headers[$name] = ltrim($value, " \t");
        }

        return $headers;
    }
}
