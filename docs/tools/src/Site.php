<?php

declare(strict_types=1);

namespace DelayQueue\Docs;

use FilesystemIterator;
use RecursiveDirectoryIterator;
use RecursiveIteratorIterator;

/** All pages: of which files they are made, and where they stand. */
final class Site
{
    /** Documents outside of docs/ that are pages as well: path in the project => path on the site. */
    private const DOCUMENTS = [
        'lua/README.md' => 'protocol.md',
        'lua/groups.md' => 'protocol-groups.md',
        'php/README.md' => 'package.md',
        'php/examples/README.md' => 'examples/index.md',
        'bench/README.md' => 'benchmarks.md',
        'SECURITY.md' => 'security.md',
        'CHANGELOG.md' => 'changelog.md',
    ];

    /** Further targets of links: path in the project => place on the site. */
    private const PLACES = [
        'README.md' => 'index.md',
        'stubs/delayqueue.stub.php' => 'api/index.md',
        'stubs' => 'api/index.md',
        'php/examples' => 'examples/index.md',
        'bench' => 'benchmarks.md',
        'bench/results' => 'benchmarks.md',
        'lua' => 'scripts.md',
        'compose.yaml' => 'recipes/compose.md',
        'tests/docs/SamplesTest.php' => 'samples.md',
    ];

    public function __construct(private readonly string $root)
    {
    }

    /** @return array<string, string> the documents that people write: path in the project => path on the site */
    public function documents(): array
    {
        $documents = [];
        foreach ($this->filesOf('docs') as $path) {
            if (str_ends_with($path, '.md')) {
                $documents[$path] = substr($path, strlen('docs/'));
            }
        }
        ksort($documents);

        return $documents + self::DOCUMENTS;
    }

    public function read(string $path): string
    {
        return (string) file_get_contents("$this->root/$path");
    }

    public function writeTo(string $folder): void
    {
        $examples = new Examples($this->root);
        $places = $this->documents() + self::PLACES + $examples->places();
        $copied = preg_grep('~\.(svg|png|css|rules\.yml|dashboard\.json)$~', [...$this->filesOf('docs'), ...$this->filesOf('php/examples/monitoring')]);
        foreach ($copied as $path) {
            $places[$path] = (string) preg_replace('~^(docs|php/examples)/~', '', $path);
            self::write("$folder/$places[$path]", $this->read($path));
        }
        $links = new Links($places);
        foreach ($this->documents() as $path => $page) {
            $markdown = Inclusions::fill($this->read($path), fn (string $file): string => $this->read(Links::resolve($path, $file)));
            self::write("$folder/$page", Dialect::translate($links->rewrite($markdown, $path, $page)));
        }
        $pages = (new Api("$this->root/stubs/delayqueue.stub.php"))->pages()
            + $examples->pages()
            + ['scripts.md' => Scripts::page("$this->root/lua"), 'samples.md' => SamplesPage::of($this)];
        foreach ($pages as $page => $markdown) {
            self::write("$folder/$page", Dialect::translate($markdown));
        }
    }

    /** @return list<string> paths in the project */
    private function filesOf(string $folder): array
    {
        $files = new RecursiveIteratorIterator(new RecursiveDirectoryIterator("$this->root/$folder", FilesystemIterator::SKIP_DOTS));
        $paths = [];
        foreach ($files as $file) {
            $paths[] = substr($file->getPathname(), strlen($this->root) + 1);
        }
        sort($paths);

        return array_values(array_filter($paths, static fn (string $path): bool => !str_starts_with($path, 'docs/tools/')));
    }

    private static function write(string $file, string $text): void
    {
        if (!is_dir(dirname($file))) {
            mkdir(dirname($file), 0o755, true);
        }
        file_put_contents($file, $text);
    }
}
