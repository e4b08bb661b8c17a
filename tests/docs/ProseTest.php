<?php

declare(strict_types=1);

namespace DelayQueue\Tests\DocsSite;

use DelayQueue;
use FilesystemIterator;
use PHPUnit\Framework\TestCase;
use RecursiveDirectoryIterator;
use RecursiveIteratorIterator;

/** Sentences of documents and comments name their subject, and what documents say of defaults is so. */
final class ProseTest extends TestCase
{
    private const ROOT = __DIR__ . '/../..';

    /** Comments that begin so leave the reader to find out which thing they mean. */
    private const WITHOUT_SUBJECT = '~(?:^|\s)(?://[/!]?|/\*\*|\*|--|#) +(?:The same|Those|That of|One that|What|Who)\b.*~m';

    private const SOURCES = [
        'src' => ['rs'], 'lua' => ['lua'], 'php' => ['php'], 'tests' => ['rs', 'php', 'phpt'], 'bench' => ['php'], 'docs/tools' => ['php'], 'scripts' => ['sh'],
    ];

    /** A sentence names its agent first: a newcomer reads it once. */
    public function testNoSentenceIsAboutWhatOrWho(): void
    {
        foreach (self::pages() as $name => $text) {
            $prose = (string) preg_replace(['/^```.*?^```/ms', '/^#.*$/m', '/[ \t]*\n[ \t]*(?:\* )?(?![\n|*#-])/'], ['', '', ' '], $text);
            preg_match_all('/(?:^|[.:;!?] |\| |\* |- )(?:What|Who)(?:ever)? [^?.|]{3,300}[.|:]/m', $prose, $found);
            $this->assertSame([], $found[0], $name);
        }
    }

    public function testCommentsBeginWithTheirSubject(): void
    {
        $texts = [];
        foreach (self::SOURCES as $folder => $endings) {
            foreach ($endings as $ending) {
                $texts += self::in($folder, $ending);
            }
        }
        $this->assertGreaterThan(800, count($texts));
        foreach ($texts as $name => $text) {
            $this->assertSame(0, preg_match(self::WITHOUT_SUBJECT, $text, $found), $name . ': ' . ($found[0] ?? ''));
        }
    }

    public function testTheDefaultsThatThePageNamesAreThose(): void
    {
        $said = (string) preg_replace('/\s+/', ' ', (string) file_get_contents(self::ROOT . '/docs/use.md'));
        $this->assertStringContainsString(
            'a job has a TTR (time to run) of 60 s, priority 1024, 10 attempts and at most 1 MiB of payload. After a failure it waits 5 s, then twice as long each time, up to an hour, give or take a tenth.',
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

    public function testTheCapacitySheetNamesCasesOfTheBenchmarks(): void
    {
        $cases = (string) file_get_contents(self::ROOT . '/bench/src/Cases.php');
        $this->assertGreaterThan(10, preg_match_all('/--cases=([a-z-]+)/', (string) file_get_contents(self::ROOT . '/docs/capacity.md'), $named));
        foreach ($named[1] as $case) {
            $this->assertStringContainsString("'$case' => ", $cases);
        }
    }

    /** @return array<string, string> the texts that users read, by file */
    private static function pages(): array
    {
        $pages = [];
        foreach (['README.md', 'CHANGELOG.md', 'SECURITY.md', 'ARCHITECTURE.md', 'stubs/delayqueue.stub.php', 'lua/README.md', 'php/README.md', 'bench/README.md'] as $file) {
            $pages[$file] = (string) file_get_contents(self::ROOT . "/$file");
        }

        return $pages + self::in('docs', 'md');
    }

    /** @return array<string, string> the texts of the files of a folder with this ending */
    private static function in(string $folder, string $ending): array
    {
        $texts = [];
        foreach (new RecursiveIteratorIterator(new RecursiveDirectoryIterator(self::ROOT . "/$folder", FilesystemIterator::SKIP_DOTS)) as $file) {
            if ($file->getExtension() === $ending) {
                $texts[$file->getPathname()] = (string) file_get_contents($file->getPathname());
            }
        }

        return $texts;
    }
}
