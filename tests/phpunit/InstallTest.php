<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DelayQueue\Tests\Support\Folder;
use DelayQueue\Tests\Support\Php;
use DelayQueue\Tests\Support\Process;
use PHPUnit\Framework\TestCase;

/** build.sh install and uninstall into a folder, with a cargo that only says what it is asked for; and what dist says of a library. */
final class InstallTest extends TestCase
{
    private const SCRIPTS = __DIR__ . '/../../scripts';

    private Folder $folder;

    protected function setUp(): void
    {
        $this->folder = new Folder();
        mkdir($this->path('release'));
        file_put_contents($this->path('cargo'), "#!/bin/sh\necho \"$*\" >>'{$this->path('asked')}'\ntouch '{$this->path('release/libdelayqueue.so')}'\n");
        chmod($this->path('cargo'), 0o700);
        copy(Php::extension(), $this->path('release/libdelayqueue.so'));
        file_put_contents($this->path('php-api'), $this->bash('echo "$("$PHP_CONFIG" --version)-$("$PHP_CONFIG" --phpapi)"'));
    }

    protected function tearDown(): void
    {
        $this->folder->remove();
    }

    public function testInstallTakesTheBuildOfThisSourceAndPhp(): void
    {
        $this->verb('install');
        $this->assertFileDoesNotExist($this->path('asked'));
        $this->assertSame(['delayqueue.so'], array_map(basename(...), $this->installed('*.so')));
    }

    public function testInstallBuildsAgainWhereTheSourceIsNewer(): void
    {
        touch($this->path('release/libdelayqueue.so'), 1);
        $this->verb('install');
        $this->assertSame("build --release --locked\n", file_get_contents($this->path('asked')));
    }

    public function testInstallBuildsAgainForAnotherPhp(): void
    {
        file_put_contents($this->path('php-api'), "8.1.0-20210902\n");
        $this->verb('install');
        $this->assertStringContainsString("build --release --locked\n", (string) file_get_contents($this->path('asked')));
    }

    public function testUninstallLeavesNothingThatKeepsALaterPackageDisabled(): void
    {
        $this->verb('install');
        // As phpenmod and phpdismod leave it there.
        foreach (['etc/php/%s/cli/conf.d/20-delayqueue.ini', 'var/lib/php/modules/%s/cli/enabled_by_admin/delayqueue', 'var/lib/php/modules/%s/fpm/disabled_by_admin/delayqueue'] as $mark) {
            $file = $this->path('root/' . sprintf($mark, PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION));
            mkdir(dirname($file), recursive: true);
            touch($file);
        }
        $this->verb('uninstall');
        $this->assertSame([], $this->installed('*'));
    }

    public function testTheIniFileIsTheSameInAllPackages(): void
    {
        foreach (['install', 'dist', 'deb'] as $script) {
            $text = (string) file_get_contents(self::SCRIPTS . "/$script.sh");
            $this->assertStringContainsString('print_ini >', $text);
            $this->assertStringNotContainsString('priority=20', $text);
        }
    }

    public function testATreeAtSrcIsNotTakenForTheSourceOfACrate(): void
    {
        $this->assertSame('', $this->machinePaths('/src', '/rustc/59807616e1fa/library/alloc/src/vec/mod.rs', 'cargo/registry/src/index/ring-0.17.14/src/rsa.rs'));
        foreach (['/src/src/core/job.rs', '/src/target/release/build/x/out/y.rs', '/src', '/home/me/.cargo/registry/src/x.rs'] as $path) {
            $this->assertSame($path, $this->machinePaths('/src', $path));
        }
    }

    private function machinePaths(string $root, string ...$strings): string
    {
        file_put_contents($this->path('strings'), implode("\0", $strings));

        return trim($this->bash("source scripts/library.sh; root=$root target_dir=$root/target CARGO_HOME=/home/me/.cargo; machine_paths '{$this->path('strings')}'"));
    }

    private function verb(string $name): void
    {
        $this->bash("CARGO_TARGET_DIR='{$this->folder->path}' INSTALL_ROOT='{$this->path('root')}' PATH='{$this->folder->path}':\$PATH scripts/$name.sh");
    }

    private function bash(string $script): string
    {
        $script = "set -euo pipefail; cd \"$1\"; source scripts/common.sh; find_php; $script";
        $shell = new Process(['bash', '-c', $script, 'bash', dirname(self::SCRIPTS)], ['PHP' => PHP_BINARY] + getenv());
        $said = $shell->rest(60);
        $this->assertSame(0, $shell->exitCode(), $said . $shell->errors());

        return $said;
    }

    /** @return list<string> the files under the root of the installation */
    private function installed(string $pattern): array
    {
        return preg_split('/\n/', $this->bash("find '{$this->path('root')}' -type f -name '$pattern'"), flags: PREG_SPLIT_NO_EMPTY);
    }

    private function path(string $name): string
    {
        return "{$this->folder->path}/$name";
    }
}
