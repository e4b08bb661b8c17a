<?php

declare(strict_types=1);

namespace DelayQueue\Tests\DocsSite;

use PHPUnit\Framework\TestCase;

/** ARCHITECTURE.md names files that are there, and a reason for each crate. */
final class MapTest extends TestCase
{
    private const ROOT = __DIR__ . '/../..';

    public function testEachFileAndFolderOnTheMapIsThere(): void
    {
        $found = 0;
        foreach ($this->lines() as $number => $line) {
            $folder = null; // a name without its folder is in that of the name before
            preg_match_all('/`([\w.\/-]+(?:\.[a-z]+|\/|\/run))`/', $line, $names);
            foreach ($names[1] as $name) {
                $known = [$name, "$folder/$name", dirname((string) $folder) . "/$name"];
                $there = array_values(array_filter($known, fn (string $path): bool => file_exists(self::ROOT . '/' . $path)));
                $this->assertNotSame([], $there, 'line ' . ($number + 1) . ": $name");
                $folder = is_dir(self::ROOT . '/' . $there[0]) ? rtrim($there[0], '/') : dirname($there[0]);
                $found++;
            }
        }
        $this->assertGreaterThan(100, $found);
    }

    public function testEachCrateHasAReason(): void
    {
        preg_match_all('/^([a-z0-9_-]+) = /m', (string) preg_replace('/\A.*?\[dependencies\]|\[profile.*\z/s', '', (string) file_get_contents(self::ROOT . '/Cargo.toml')), $crates);
        $map = implode("\n", $this->lines());
        foreach (array_unique($crates[1]) as $crate) {
            $this->assertMatchesRegularExpression("/^\| .*`$crate`.* \| .+ \|$/m", $map, $crate);
        }
    }

    /** @return list<string> */
    private function lines(): array
    {
        return (array) file(self::ROOT . '/ARCHITECTURE.md', FILE_IGNORE_NEW_LINES);
    }
}
