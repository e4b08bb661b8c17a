<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Tracing;

use DelayQueue\Tracing\TraceContext;
use PHPUnit\Framework\TestCase;

/** The grammar of W3C Trace Context, Level 2. */
final class TraceContextTest extends TestCase
{
    private const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
    private const SPAN = '00f067aa0ba902b7';
    private const PARENT = '00-' . self::TRACE . '-' . self::SPAN . '-01';

    /** @dataProvider parents */
    #[\PHPUnit\Framework\Attributes\DataProvider('parents')]
    public function testAParentIsReadByTheGrammar(?string $parent, ?string $passedOn): void
    {
        $this->assertSame($passedOn, TraceContext::parse($parent, null)?->headers()['traceparent'] ?? null);
    }

    /** @return array<string, array{?string, ?string}> */
    public static function parents(): array
    {
        [$trace, $span] = [self::TRACE, self::SPAN];

        return [
            'sampled' => [self::PARENT, self::PARENT],
            'not sampled' => ["00-$trace-$span-00", "00-$trace-$span-00"],
            'random' => ["00-$trace-$span-03", "00-$trace-$span-03"],
            'unknown flags' => ["00-$trace-$span-ff", "00-$trace-$span-03"],
            'spaces around' => [" \t" . self::PARENT . ' ', self::PARENT],
            'a version to come' => ["cc-$trace-$span-01", self::PARENT],
            'a version to come with more' => ["cc-$trace-$span-01-what-the-future-will-be-like", self::PARENT],
            'missing' => [null, null],
            'empty' => ['', null],
            'more in this version' => [self::PARENT . '-x', null],
            'more without a dash' => ["cc-$trace-$span-01.", null],
            'version ff' => ["ff-$trace-$span-01", null],
            'capitals' => [strtoupper(self::PARENT), null],
            'no trace' => ['00-' . str_repeat('0', 32) . "-$span-01", null],
            'no span' => ["00-$trace-" . str_repeat('0', 16) . '-01', null],
            'a short trace' => ['00-' . substr($trace, 1) . "-$span-01", null],
            'a long span' => ["00-$trace-0$span-01", null],
            'short flags' => ["00-$trace-$span-1", null],
            'no hexadecimal' => ["00-$trace-$span-0g", null],
            'two of them' => [self::PARENT . ',' . self::PARENT, null],
            'a line end' => [self::PARENT . "\n", null],
            'no text' => ["\xff\x00", null],
        ];
    }

    /** @dataProvider states */
    #[\PHPUnit\Framework\Attributes\DataProvider('states')]
    public function testAStateGoesAlongWhereItIsOne(string $state, ?string $passedOn): void
    {
        $this->assertSame($passedOn, TraceContext::parse(self::PARENT, $state)?->headers()['tracestate'] ?? null);
    }

    /** @return array<string, array{string, ?string}> */
    public static function states(): array
    {
        $members = static fn (int $count): string => implode(',', array_map(static fn (int $n): string => "k$n=v", range(1, $count)));
        [$long, $short] = [static fn (string $key): string => "$key=" . str_repeat('x', 200), static fn (string $key): string => "$key=" . str_repeat('y', 98)];

        return [
            'empty' => ['', null],
            'one' => ['congo=t61rcWkgMzE', 'congo=t61rcWkgMzE'],
            'of a tenant' => ['7tenant@vendor/a*b-c_d=1', '7tenant@vendor/a*b-c_d=1'],
            'spaces' => [" a=1 \t, b= 2 ,, c=!<>~ ", 'a=1,b= 2,c=!<>~'],
            'twice' => ['a=1,b=2,a=3', 'a=1,b=2'],
            'no value' => ['a=1,b', null],
            'an empty value' => ['a=', null],
            'two values' => ['a=1=2', null],
            'capitals' => ['A=1', null],
            'no ASCII' => ["a=\xc3\xa9", null],
            'a line end' => ["a=1\r\nx: y", null],
            'a long key' => [str_repeat('k', 257) . '=1', null],
            'a long value' => ['a=' . str_repeat('x', 257), null],
            'thirty-two' => [$members(32), $members(32)],
            'too many' => [$members(33), null],
            'long ones go first' => ["{$long('a')},{$short('b')},{$short('c')},{$long('d')}", "{$long('a')},{$short('b')},{$short('c')}"],
            'the last ones go' => [implode(',', array_map($short, range('a', 'g'))), implode(',', array_map($short, range('a', 'e')))],
        ];
    }

    public function testAStateWithoutAParentIsNothing(): void
    {
        $this->assertNull(TraceContext::parse('x', 'a=1'));
    }

    public function testANewOneIsRandomAndSampled(): void
    {
        [$one, $other] = [TraceContext::make(), TraceContext::make()];
        $this->assertMatchesRegularExpression('/^00-[0-9a-f]{32}-[0-9a-f]{16}-03$/D', $one->headers()['traceparent']);
        $this->assertNotSame([$one->traceId, $one->spanId], [$other->traceId, $other->spanId]);
        $this->assertSame($one->headers(), TraceContext::parse($one->headers()['traceparent'], null)?->headers());
    }
}
