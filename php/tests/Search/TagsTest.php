<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Search;

use DelayQueue\Search\Tags;
use DelayQueue\Testing;
use DelayQueue\Tests\OnAnyStore;
use PHPUnit\Framework\TestCase;
use ValueError;

final class TagsTest extends TestCase
{
    use OnAnyStore;

    public function testTagsAreAHeaderBesideOthers(): void
    {
        $this->assertSame(['tags' => 'tenant:42,import', 'shop' => 'de'], Tags::of('tenant:42', 'import') + ['shop' => 'de']);
        $this->assertSame(['tags' => 'a,b'], Tags::of('a', 'b', 'a'), 'each once');
        $this->assertSame([], Tags::of());
    }

    public function testAJobTellsItsTags(): void
    {
        $queue = $this->delayQueue();
        $id = $queue->push(1, headers: Tags::of('tenant:42', 'Köln'));
        $this->assertSame(['tenant:42', 'Köln'], Tags::in($queue->peek($id)));
        $this->assertSame(['tenant:42', 'Köln'], Tags::in($queue->reserve()));
    }

    public function testAHeaderThatAnotherProgramHasWrittenIsReadAsWell(): void
    {
        $this->assertSame(['a', 'b'], Tags::in(Testing::jobInfo(['headers' => ['tags' => ' a, b,,a,']])));
        $this->assertSame([], Tags::in(Testing::jobInfo()));
    }

    /** @return array<string, array{list<string>, string}> */
    public static function wrong(): array
    {
        return [
            'empty' => [['a', ''], 'Argument #2 must not be empty'],
            'a comma' => [['a,b'], 'Argument #1 must not contain a comma'],
            'a line feed' => [["a\nb"], 'Argument #1 must not contain control characters'],
            'a control character of Latin-1' => [["a\u{85}"], 'Argument #1 must not contain control characters'],
            'no UTF-8' => [["\xFF"], 'Argument #1 must be valid UTF-8'],
            'a blank at the end' => [['a', 'b', 'c '], 'Argument #3 must not begin or end with a blank'],
        ];
    }

    /**
     * @dataProvider wrong
     *
     * @param list<string> $tags
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('wrong')]
    public function testAWrongTagIsRefused(array $tags, string $message): void
    {
        $this->expectException(ValueError::class);
        $this->expectExceptionMessage(Tags::class . "::of(): $message");
        Tags::of(...$tags);
    }
}
