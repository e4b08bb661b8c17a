<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Faults;

use PHPUnit\Framework\TestCase;

/**
 * docs/reliability.md has each fault, and docs/faults.md names tests that exist.
 *
 * @group quick
 */
final class ReliabilityPageTest extends TestCase
{
    public function testEachNamedTestExists(): void
    {
        $root = dirname(__DIR__, 2);
        foreach (['reliability', 'faults'] as $name) {
            $page = file_get_contents("$root/docs/$name.md");
            $this->assertSame(range(1, 26), array_map(intval(...), preg_match_all('/^\| F(\d+) \|/m', $page, $rows) ? $rows[1] : []), $name);
        }
        preg_match_all('/`(\w+Test)(?:::(\w+))?`/', $page, $named, PREG_SET_ORDER);
        foreach ($named as [$whole, $class]) {
            $files = glob("$root/tests/{faults,phpunit,console}/$class.php", GLOB_BRACE);
            $this->assertCount(1, $files, $class);
            [$file] = $files;
            str_contains($whole, '::') && $this->assertStringContainsString('function ' . trim(explode('::', $whole)[1], '`') . '(', file_get_contents($file));
        }
        preg_match_all('/`([a-z_]+)::([a-z_]+)`/', $page, $inRust, PREG_SET_ORDER);
        foreach ($inRust as [, $module, $name]) {
            $this->assertStringContainsString("fn $name(", file_get_contents("$root/tests/core/$module.rs"));
        }
        $this->assertGreaterThan(40, count($named) + count($inRust));
    }
}
