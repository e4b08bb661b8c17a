<?php

declare(strict_types=1);

namespace DelayQueue\Tests;

use DelayQueue\Internal\ExactJson;
use JsonException;
use PHPUnit\Framework\TestCase;

final class ExactJsonTest extends TestCase
{
    /** @dataProvider texts */
    #[\PHPUnit\Framework\Attributes\DataProvider('texts')]
    public function testEachNumberStaysAsItIsWritten(string $json): void
    {
        $this->assertSame($json, ExactJson::encode(ExactJson::decode($json)));
    }

    /** @return array<string, array{string}> */
    public static function texts(): array
    {
        $texts = [
            '12345678901234567890', '-12345678901234567890', '9223372036854775807', '9223372036854775808',
            '-9223372036854775809', '0', '-0', '0.0', '-0.0', '1.0', '1.10', '1e2', '1E+2', '1e400', '-1e-400',
            '0.1000000000000000055511151231257827', '123456789012345678901234567890.5', '"1.10"', 'null', 'true',
            '{"a":{},"b":[],"c":[{}],"12":12345678901234567890,"":null}',
            '{"text":"12345678901234567890 \" 1.10 \\\\","n":1.10}',
            '[12345678901234567890,"é/",1.5,{"x":1e3}]',
        ];

        return array_combine($texts, array_map(static fn (string $text): array => [$text], $texts));
    }

    /** @dataProvider mistakes */
    #[\PHPUnit\Framework\Attributes\DataProvider('mistakes')]
    public function testWhatIsNoJsonIsRefused(string $json): void
    {
        $this->expectException(JsonException::class);
        ExactJson::decode($json);
    }

    /** @return list<array{string}> */
    public static function mistakes(): array
    {
        return [[''], ['01'], ['1.'], ['1e'], ['{"a":1,}'], ['+1'], ['12345678901234567890 1']];
    }

    public function testOnlyWhatPhpWouldChangeNeedsItsText(): void
    {
        $text = static fn (string $json): ?string => ExactJson::textUnlessPlain(ExactJson::decode($json));
        $this->assertNull($text('{"a":{},"b":[1.5,7,"é"]}'));
        $this->assertSame('{"a":1e400}', $text('{"a":1e400}'));
    }
}
