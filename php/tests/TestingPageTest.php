<?php

declare(strict_types=1);

namespace DelayQueue\Tests;

use DelayQueue\Testing\Settings;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/** The samples of docs/testing.md that are no tests themselves run as they stand, where there is no Redis. */
final class TestingPageTest extends TestCase
{
    private Settings $settings;

    protected function setUp(): void
    {
        $this->settings = new Settings('redis+unix:///nonexistent/redis.sock');
    }

    protected function tearDown(): void
    {
        $this->settings->restore();
    }

    /** @return array<string, array{string}> */
    public static function samples(): array
    {
        preg_match_all('/^```php\n(.*?)^```$/ms', (string) file_get_contents(dirname(__DIR__, 2) . '/docs/testing.md'), $found);
        $samples = [];
        foreach ($found[1] as $n => $sample) {
            $samples['sample ' . ($n + 1)] = [$sample];
        }

        return $samples;
    }

    /** @dataProvider samples */
    #[DataProvider('samples')]
    public function testASampleRunsAsPrinted(string $sample): void
    {
        // An assert() is compiled only where php.ini says so.
        $sample = str_replace('assert(', '\\PHPUnit\Framework\Assert::assertTrue(', $sample);
        ob_start();
        try {
            (static function () use ($sample): void {
                eval($sample);
            })();
        } finally {
            $printed = ob_get_clean();
        }
        $this->assertSame('', $printed);
    }
}
