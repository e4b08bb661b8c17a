<?php

declare(strict_types=1);

namespace DelayQueue\Tests\DocsSite;

use DelayQueue;
use FilesystemIterator;
use PHPUnit\Framework\TestCase;
use RecursiveDirectoryIterator;
use RecursiveIteratorIterator;

/** What users read: no sentence that new users stumbled over comes back, and what the documents say of defaults is so. */
final class WordsTest extends TestCase
{
    private const ROOT = __DIR__ . '/../..';

    /** Each was met by somebody who did not understand it. */
    private const RIDDLES = [
        'says where the data is', 'name the jobs, or say', 'which hides a password', 'no more jobs to any worker', 'has its job failed',
        'worker hears of it at once', 'is not supported yet',
    ];

    public function testNoRiddleIsInDocumentsStubsOrSources(): void
    {
        $texts = [];
        foreach (['README.md', 'CHANGELOG.md', 'SECURITY.md', 'ARCHITECTURE.md', 'stubs/delayqueue.stub.php', 'lua/README.md', 'php/README.md'] as $file) {
            $texts[$file] = (string) file_get_contents(self::ROOT . "/$file");
        }
        foreach (['docs' => 'md', 'php/src' => 'php', 'src' => 'rs'] as $folder => $ending) {
            foreach (new RecursiveIteratorIterator(new RecursiveDirectoryIterator(self::ROOT . "/$folder", FilesystemIterator::SKIP_DOTS)) as $file) {
                if ($file->getExtension() === $ending) {
                    $texts[$file->getPathname()] = (string) file_get_contents($file->getPathname());
                }
            }
        }
        $this->assertGreaterThan(200, count($texts));
        foreach ($texts as $name => $text) {
            foreach (self::RIDDLES as $riddle) {
                $this->assertStringNotContainsStringIgnoringCase($riddle, (string) preg_replace('/\s+(\* |\/\/+ )?/', ' ', $text), $name);
            }
        }
    }

    public function testTheDefaultsThatTheReadmeNamesAreThose(): void
    {
        $said = (string) preg_replace('/\s+/', ' ', (string) file_get_contents(self::ROOT . '/README.md'));
        $this->assertStringContainsString(
            'a job has a TTR of 60 s, priority 1024, 10 attempts and at most 1 MiB of payload; after a failure it waits 5 s, then twice as long each time, up to an hour, give or take a tenth.',
            $said,
        );
        $shown = print_r(new DelayQueue('orders'), true);
        foreach (['[ttr] => 60', '[priority] => 1024', '[maxAttempts] => 10', '[backoff] => exponential 5s 2 1h 0.1'] as $default) {
            $this->assertStringContainsString("$default\n", $shown);
        }
        $options = (string) file_get_contents(self::ROOT . '/docs/options.md');
        $this->assertMatchesRegularExpression('/^\| `maxPayload` \|.*(1 MiB|1048576)/m', $options);
    }

    public function testWhatABatchMayHoldAndWhatAPastMomentIsIsInTheStub(): void
    {
        $stub = (string) file_get_contents(self::ROOT . '/stubs/delayqueue.stub.php');
        $this->assertStringContainsString('@param positive-int $max more than 500 counts as 500', $stub);
        $this->assertStringContainsString('a past moment is due at once. A negative number is a', $stub);
    }
}
