<?php

declare(strict_types=1);

namespace DelayQueue\Tests\DocsSite;

use PHPUnit\Framework\TestCase;

/** tests/rough-edges.md names tests that there are. */
final class RoughEdgesTest extends TestCase
{
    private const ROOT = __DIR__ . '/../..';

    public function testEachRowNamesTestsThatThereAre(): void
    {
        preg_match_all('/^\| (\d+) \| .+ \| (.+) \|$/m', (string) file_get_contents(self::ROOT . '/tests/rough-edges.md'), $rows);
        $this->assertSame(range(1, 38), array_map(intval(...), $rows[1]));
        foreach ($rows[2] as $number => $tests) {
            $code = null;
            preg_match_all('/`([^`]+)`/', $tests, $names);
            foreach ($names[1] as $name) {
                if (str_contains($name, '/')) {
                    $code = @file_get_contents(self::ROOT . '/' . strtok($name, ' '));
                    $this->assertIsString($code, "row {$rows[1][$number]}: $name is there");
                } else {
                    $this->assertMatchesRegularExpression("/^ *(public function |fn |)$name\\(/m", (string) $code, "row {$rows[1][$number]}: $name is a test");
                }
            }
            $this->assertNotNull($code, "row {$rows[1][$number]} names a test");
        }
    }
}
