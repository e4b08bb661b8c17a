<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DelayQueue\Tests\Support\Folder;
use DelayQueue\Tests\Support\Process;
use PHPUnit\Framework\TestCase;

/** What scripts/setup.sh would install on a Debian that has nothing yet: apt-get, rustup and their likes only say what they are asked for. */
final class SetupTest extends TestCase
{
    private Folder $folder;

    protected function setUp(): void
    {
        $this->folder = new Folder();
        foreach (['apt-get', 'rustup'] as $tool) {
            $this->tool($tool, 'echo "$(basename "$0") $*" >>"$(dirname "$0")/asked"');
        }
        $this->tool('dpkg-query', 'exit 1');
        $this->tool('id', 'echo 0');
        $this->tool('cc', ':');
        $this->tool('cargo', '[ "$1" = --version ] && [ $# -eq 1 ] && echo cargo 1.88.0');
    }

    protected function tearDown(): void
    {
        $this->folder->remove();
    }

    public function testTheDemoBringsNothingThatOnlyTestsNeed(): void
    {
        $demo = $this->asked('demo');
        foreach (['php8.2-cli', 'php8.2-dev', 'libclang-dev', 'redis-server', 'php8.2-sqlite3', 'php-symfony-console'] as $package) {
            $this->assertStringContainsString(" $package", $demo);
        }
        $this->assertDoesNotMatchRegularExpression('/valgrind|shellcheck|supervisor|phpunit|clippy|rustfmt|composer|laravel|messenger/', $demo);
        $this->assertStringContainsString('"$root/scripts/setup.sh" demo', (string) file_get_contents(__DIR__ . '/../../scripts/demo.sh'));
    }

    public function testTheOtherVerbsBringAll(): void
    {
        $all = $this->asked();
        foreach (['redis-server', 'valgrind', 'shellcheck', 'supervisor', 'phpunit', 'composer', 'component add clippy'] as $what) {
            $this->assertStringContainsString($what, $all);
        }
    }

    private function asked(string ...$arguments): string
    {
        $environment = ['PATH' => "{$this->folder->path}:" . getenv('PATH'), 'PHP_SERIES' => '8.2', 'PHP' => PHP_BINARY] + getenv();
        $setup = new Process([__DIR__ . '/../../scripts/setup.sh', ...$arguments], $environment);
        $said = $setup->rest(30);
        $this->assertSame(0, $setup->exitCode(), $said . $setup->errors());

        return (string) file_get_contents("{$this->folder->path}/asked");
    }

    private function tool(string $name, string $does): void
    {
        file_put_contents("{$this->folder->path}/$name", "#!/bin/sh\n$does\n");
        chmod("{$this->folder->path}/$name", 0o700);
    }
}
