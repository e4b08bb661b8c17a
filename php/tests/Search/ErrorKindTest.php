<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Search;

use DelayQueue\Search\ErrorKind;
use PHPUnit\Framework\TestCase;

/** Errors are grouped by their kinds. */
final class ErrorKindTest extends TestCase
{
    public function testRealErrorsAreTogetherWhereOnlyValuesDifferAndApartWhereCodesOrWordsDo(): void
    {
        $groups = self::groups();
        $this->assertGreaterThan(60, count($groups, COUNT_RECURSIVE) - count($groups));
        $seen = [];
        foreach ($groups as $errors) {
            $kinds = array_values(array_unique(array_map(ErrorKind::of(...), $errors)));
            $this->assertCount(1, $kinds, implode("\n", $kinds));
            $this->assertArrayNotHasKey($kinds[0], $seen, "$errors[0]\nis of the kind of\n" . ($seen[$kinds[0]] ?? ''));
            $seen[$kinds[0]] = $errors[0];
        }
    }

    public function testAKindIsOfItsOwnKindOnePrintableLineAndShort(): void
    {
        foreach (array_merge(...self::groups()) as $error) {
            $kind = ErrorKind::of($error);
            $this->assertStringNotContainsString("\n", $kind);
            $this->assertMatchesRegularExpression('//u', $kind);
        }
        $this->assertSame('', ErrorKind::of(''));
        $repeated = array_map(static fn (string $part): string => str_repeat($part, 5_000), ['ä', '"x', "'", '1 a:']);
        foreach ([str_repeat('a', 399) . '€', ...$repeated] as $long) {
            $this->assertLessThanOrEqual(400, strlen(ErrorKind::of($long)));
            $this->assertMatchesRegularExpression('//u', ErrorKind::of($long));
        }
        $this->assertSame("a \xFF #", ErrorKind::of("a \xFF 5"), 'bytes that are no text stay');
    }

    /** @return list<non-empty-list<string>> */
    private static function groups(): array
    {
        $text = (string) file_get_contents(__DIR__ . '/error-kinds.txt');
        $groups = array_slice(explode("\n\n", trim($text)), 1);

        $lines = static fn (string $group): array => array_map(stripcslashes(...), explode("\n", $group));

        return array_map($lines, $groups);
    }
}
