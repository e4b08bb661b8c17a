<?php

declare(strict_types=1);

namespace DelayQueue\Tests\DocsSite;

use DelayQueue\Tests\Support\Folder;
use DelayQueue\Tests\Support\Process;
use PHPUnit\Framework\TestCase;

/** The guides say what to type today, while no package is published, and mark what works only then. */
final class GuidesTest extends TestCase
{
    private const ROOT = __DIR__ . '/../..';

    /** @dataProvider guides */
    #[\PHPUnit\Framework\Attributes\DataProvider('guides')]
    public function testTheLinesForComposerWorkInAnEmptyProjectWithoutPackagist(string $guide): void
    {
        $text = (string) file_get_contents(self::ROOT . "/$guide");
        $this->assertSame(1, preg_match('~`(composer config repositories\.\S+ path /path/to/delayqueue/php)`.*?`(composer require delayqueue/delayqueue:@dev)`~s', $text, $lines));
        $folder = new Folder();
        try {
            file_put_contents("$folder->path/composer.json", '{"repositories": {"packagist.org": false}}');
            $commands = str_replace('/path/to/delayqueue', (string) realpath(self::ROOT), "set -eu\ncd $folder->path\n$lines[1]\n$lines[2] --no-interaction 2>&1\n");
            $own = ['COMPOSER_HOME' => "$folder->path/home", 'COMPOSER_ALLOW_SUPERUSER' => '1'];
            $composer = new Process(['bash', '-c', $commands], $own + getenv());
            $said = $composer->rest(60);
            $this->assertSame(0, $composer->exitCode(60), $said . $composer->errors());
            $this->assertFileExists("$folder->path/vendor/bin/delayqueue");
        } finally {
            exec('rm -rf ' . escapeshellarg($folder->path));
        }
        $this->assertMatchesRegularExpression('~\*Once published\*,\s+`composer require delayqueue/delayqueue`~', $text);
    }

    /** @return array<string, array{string}> */
    public static function guides(): array
    {
        return ['Laravel' => ['docs/laravel.md'], 'Symfony' => ['docs/symfony.md']];
    }

    public function testWhatNeedsARegistryIsMarked(): void
    {
        $install = (string) file_get_contents(self::ROOT . '/docs/install.md');
        $this->assertStringContainsString('**Nothing is published yet.**', $install);
        foreach (preg_grep('/pie install/', explode("\n\n", $install)) as $part) {
            $before = substr($install, 0, (int) strpos($install, $part));
            $this->assertMatchesRegularExpression('/\*once published\W/i', substr($before, -200) . $part, $part);
        }
    }
}
