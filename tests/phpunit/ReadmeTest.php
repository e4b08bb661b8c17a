<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DelayQueue\State;
use DelayQueue\Testing\InteractsWithDelayQueue;
use PHPUnit\Framework\TestCase;

/** What the README shows is PHP, and works. */
final class ReadmeTest extends TestCase
{
    use InteractsWithDelayQueue;

    public function testEveryBlockParses(): void
    {
        $blocks = self::blocks();
        $this->assertNotSame([], $blocks);
        foreach ($blocks as $block) {
            $this->assertNotSame([], token_get_all("<?php $block", TOKEN_PARSE));
        }
    }

    public function testTheProducerPushesWhatItSays(): void
    {
        $this->execute('$queue->push(', 2);

        $info = $this->delayQueue('orders')->peek('order-4711');
        $this->assertSame([State::Delayed, ['order' => 4711], 5], [$info?->state, $info?->payload, $info?->maxAttempts]);
        $this->assertDelayed('order-4711', 'orders', 900);
    }

    public function testTheManagingCallsWork(): void
    {
        $this->execute('$queue->push(', 2);

        $this->expectOutputRegex('/^delayqueue_jobs\{queue="orders",state="delayed"\} 0$/m');
        $this->execute('toPrometheus', 1, '$queue = new DelayQueue("orders");');

        $this->assertQueueEmpty('orders');
    }

    public function testTheStartNamesTheFirstCommandsAndEachCommandIsAVerb(): void
    {
        $root = dirname(__DIR__, 2);
        $readme = (string) file_get_contents("$root/README.md");
        $this->assertSame(1, preg_match('/^## Start$(.*?)^## /ms', $readme, $start));
        foreach (['demo', 'test', 'install'] as $verb) {
            $this->assertMatchesRegularExpression("~^(sudo )?\\./build\\.sh $verb +# ~m", $start[1]);
        }
        $help = (string) shell_exec("$root/build.sh help");
        preg_match_all('~\./build\.sh (\w+)~', $readme, $named);
        foreach ($named[1] as $verb) {
            $this->assertMatchesRegularExpression("/^  $verb +\w/m", $help);
        }
    }

    /** Runs the $nth block that contains these words. */
    private function execute(string $words, int $nth, string $before = ''): void
    {
        $matching = array_values(array_filter(self::blocks(), static fn (string $block): bool => str_contains($block, $words)));
        $block = str_replace("'redis://127.0.0.1:6379/0'", 'null', $matching[$nth - 1]);
        (static function () use ($before, $block): void {
            eval("$before\n$block");
        })();
    }

    /** @return list<string> */
    private static function blocks(): array
    {
        preg_match_all('/^```php\n(.*?)^```$/ms', (string) file_get_contents(__DIR__ . '/../../README.md'), $matches);

        return $matches[1];
    }
}
