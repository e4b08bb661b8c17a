<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Http;

use DelayQueue\Http\RetryAfter;
use PHPUnit\Framework\TestCase;

final class RetryAfterTest extends TestCase
{
    private const DATE = 'Sun, 06 Nov 1994 08:49:37 GMT';

    /** @return array<string, array{?string, ?int}> */
    public static function headers(): array
    {
        return [
            'seconds' => ['120', 120],
            'spaces around' => [' 120 ', 120],
            'more than a number holds' => ['99999999999999999999', PHP_INT_MAX],
            'a moment' => ['Sun, 06 Nov 1994 08:51:37 GMT', 120],
            'a moment as in RFC 850' => ['Sunday, 06-Nov-94 08:51:37 GMT', 120],
            'a moment as of asctime()' => ['Sun Nov  6 08:51:37 1994', 120],
            'now' => [self::DATE, null],
            'zero' => ['0', null],
            'negative' => ['-5', null],
            'a fraction' => ['1.5', null],
            'words' => ['tomorrow', null],
            'another time zone' => ['Sun, 06 Nov 1994 08:51:37 CET', null],
            'empty' => ['', null],
            'absent' => [null, null],
        ];
    }

    /** @dataProvider headers */
    #[\PHPUnit\Framework\Attributes\DataProvider('headers')]
    public function testItIsSecondsOrNothing(?string $value, ?int $seconds): void
    {
        $this->assertSame($seconds, RetryAfter::seconds($value, self::DATE));
    }

    public function testWithoutADateTheClockIsOurs(): void
    {
        $seconds = RetryAfter::seconds(gmdate('D, d M Y H:i:s \G\M\T', time() + 3600), null);

        $this->assertThat($seconds, $this->logicalAnd($this->greaterThan(3500), $this->lessThanOrEqual(3600)));
    }
}
