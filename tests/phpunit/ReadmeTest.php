<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DelayQueue\State;
use DelayQueue\Testing\InteractsWithDelayQueue;
use PHPUnit\Framework\TestCase;

/** The code of README.md and docs/use.md works, and their links are there. */
final class ReadmeTest extends TestCase
{
    use InteractsWithDelayQueue;

    private const ROOT = __DIR__ . '/../..';

    public function testEveryLinkAndPictureIsThere(): void
    {
        preg_match_all('/\]\(([^)#:]+)(?:#([^)]+))?\)/', self::read('README.md'), $links, PREG_SET_ORDER);
        $this->assertGreaterThan(30, count($links));
        foreach ($links as $link) {
            $this->assertFileExists(self::ROOT . "/$link[1]");
            if (isset($link[2])) {
                $headings = (array) preg_grep('/^#+ /', explode("\n", self::read($link[1])));
                $anchors = array_map(static fn (string $line): string => strtr(strtolower((string) preg_replace('/[^\w -]/', '', ltrim($line, '# '))), ' ', '-'), $headings);
                $this->assertContains($link[2], $anchors, $link[1]);
            }
        }
    }

    public function testEveryBlockParses(): void
    {
        $blocks = [...self::blocks('README.md'), ...self::blocks('docs/use.md')];
        $this->assertGreaterThanOrEqual(4, count($blocks));
        foreach ($blocks as $block) {
            $this->assertNotSame([], token_get_all("<?php $block", TOKEN_PARSE));
        }
    }

    public function testTheTwelveLinesCloseTheUnpaidOrder(): void
    {
        $this->assertSame(12, substr_count(self::blocks('README.md')[0], "\n"));

        $this->expectOutputString("closing order 4712\n");
        $this->execute('README.md', '$queue->consume(');

        $this->assertQueueEmpty('orders');
    }

    public function testTheProducerPushesWhatItSays(): void
    {
        $this->execute('docs/use.md', '$queue->push(');

        $info = $this->delayQueue('orders')->peek('order-4711');
        $this->assertSame([State::Delayed, ['order' => 4711], 5], [$info?->state, $info?->payload, $info?->maxAttempts]);
        $this->assertDelayed('order-4711', 'orders', 900);
    }

    public function testTheManagingCallsWork(): void
    {
        $this->execute('docs/use.md', '$queue->push(');

        $this->expectOutputRegex('/^delayqueue_jobs\{queue="orders",state="delayed"\} 0$/m');
        $this->execute('docs/use.md', 'toPrometheus');

        $this->assertQueueEmpty('orders');
    }

    public function testTheStartNamesTheFirstCommandsAndEachCommandIsAVerb(): void
    {
        $readme = self::read('README.md');
        $this->assertSame(1, preg_match('/^## Start$(.*?)^## /ms', $readme, $start));
        foreach (['demo', 'test', 'install'] as $verb) {
            $this->assertMatchesRegularExpression("~^(sudo )?\\./build\\.sh $verb +# ~m", $start[1]);
        }
        $help = (string) shell_exec(self::ROOT . '/build.sh help');
        preg_match_all('~\./build\.sh (\w+)~', $readme, $named);
        foreach ($named[1] as $verb) {
            $this->assertMatchesRegularExpression("/^  $verb +\w/m", $help);
        }
    }

    /** Runs the one block of a document that has these words. */
    private function execute(string $document, string $words): void
    {
        $matching = array_values(array_filter(self::blocks($document), static fn (string $block): bool => str_contains($block, $words)));
        $this->assertCount(1, $matching, "$document has one block with $words");
        (static function () use ($matching): void {
            eval($matching[0]);
        })();
    }

    /** @return list<string> */
    private static function blocks(string $document): array
    {
        preg_match_all('/^```php\n(.*?)^```$/ms', self::read($document), $matches);

        return $matches[1];
    }

    private static function read(string $document): string
    {
        return (string) file_get_contents(self::ROOT . "/$document");
    }
}
