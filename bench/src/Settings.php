<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

use InvalidArgumentException;

/** The options of the command line. */
final class Settings
{
    private const OPTIONS = ['quick', 'cases:', 'peers:', 'runs:', 'scale:', 'out:', 'before:', 'packages', 'help'];

    /**
     * @param list<string> $cases
     * @param list<string> $peers
     * @param float $scale factor of all durations and numbers of jobs
     * @param string $out path of the results, less the ending
     * @param string|null $before the extension of another commit, to set beside this one
     * @param bool $packages only list the Debian packages that the peers need
     */
    private function __construct(
        public readonly bool $quick,
        public readonly array $cases,
        public readonly array $peers,
        public readonly int $runs,
        public readonly float $scale,
        public readonly string $out,
        public readonly ?string $before,
        public readonly bool $packages,
        public readonly bool $help,
    ) {
    }

    /**
     * @param list<string> $arguments
     *
     * @throws InvalidArgumentException
     */
    public static function from(array $arguments): self
    {
        $options = [];
        foreach ($arguments as $argument) {
            $isOption = preg_match('/^--([a-z]+)(=(.+))?$/', $argument, $found);
            if (!$isOption || !in_array($found[1] . (isset($found[2]) ? ':' : ''), self::OPTIONS, true)) {
                throw new InvalidArgumentException("'$argument' is no option; --help lists them");
            }
            $options[$found[1]] = $found[3] ?? true;
        }
        $quick = isset($options['quick']);
        $target = getenv('CARGO_TARGET_DIR') ?: dirname(__DIR__, 2) . '/target';

        return new self(
            $quick,
            self::chosen($options['cases'] ?? null, Cases::names(), Cases::withFigures(), 'case'),
            self::chosen($options['peers'] ?? null, Peers::names(), Peers::names(), 'peer'),
            self::atLeast('runs', $options['runs'] ?? ($quick ? 3 : 5), 1),
            (float) self::atLeast('scale', $options['scale'] ?? 1, 0.0001),
            $options['out'] ?? "$target/bench/" . ($quick ? 'quick' : 'full'),
            self::file($options['before'] ?? null),
            isset($options['packages']),
            isset($options['help']),
        );
    }

    /**
     * @param list<string> $all
     * @param list<string> $default
     *
     * @return list<string> in the order of $all
     */
    private static function chosen(?string $text, array $all, array $default, string $kind): array
    {
        if ($text === null) {
            return $default;
        }
        $names = explode(',', $text);
        foreach (array_diff($names, $all) as $name) {
            throw new InvalidArgumentException("no $kind '$name'; there are: " . implode(', ', $all));
        }

        return array_values(array_intersect($all, $names));
    }

    private static function file(?string $path): ?string
    {
        if ($path !== null && !is_file($path)) {
            throw new InvalidArgumentException("--before: there is no $path");
        }

        return $path === null ? null : realpath($path);
    }

    private static function atLeast(string $name, int|float|string $value, int|float $least): int|float
    {
        if (!is_numeric($value) || $value < $least) {
            throw new InvalidArgumentException("--$name must be a number of at least $least");
        }

        return is_int($least) ? (int) $value : (float) $value;
    }
}
