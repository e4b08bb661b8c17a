<?php

declare(strict_types=1);

namespace DelayQueue\Docs;

use FilesystemIterator;
use RecursiveDirectoryIterator;
use RecursiveIteratorIterator;

/** A page for each folder of php/examples/, with all of its files. Tests of the project run these programs. */
final class Examples
{
    private const FOLDER = 'php/examples';

    private const LANGUAGES = ['php' => 'php', 'yaml' => 'yaml', 'yml' => 'yaml', 'json' => 'json', 'service' => 'ini', 'timer' => 'ini', 'conf' => 'ini'];

    public function __construct(private readonly string $root)
    {
    }

    /** @return array<string, string> path in the project => path on the site */
    public function places(): array
    {
        $places = [];
        foreach ($this->names() as $name) {
            $places[self::FOLDER . "/$name"] = $places[self::FOLDER . "/$name/README.md"] = "examples/$name.md";
            foreach ($this->files($name) as $file) {
                $places[self::FOLDER . "/$name/$file"] = "examples/$name.md";
            }
        }

        return $places;
    }

    /** @return array<string, string> path on the site => Markdown */
    public function pages(): array
    {
        $pages = [];
        foreach ($this->names() as $name) {
            $page = "# $name\n\nThe files of `" . self::FOLDER . "/$name`, as they are. [All examples](index.md).\n";
            foreach ($this->files($name) as $file) {
                $text = rtrim((string) file_get_contents("$this->root/" . self::FOLDER . "/$name/$file"));
                $isProgram = str_starts_with($text, '#!/usr/bin/env php');
                $language = $isProgram ? 'php' : self::LANGUAGES[pathinfo($file, PATHINFO_EXTENSION)] ?? 'text';
                $page .= "\n## $file\n\n````$language\n$text\n````\n";
            }
            $pages["examples/$name.md"] = $page;
        }

        return $pages;
    }

    /** @return list<string> */
    private function names(): array
    {
        return array_map(basename(...), glob("$this->root/" . self::FOLDER . '/*', GLOB_ONLYDIR));
    }

    /** @return list<string> */
    private function files(string $name): array
    {
        $folder = "$this->root/" . self::FOLDER . "/$name";
        $files = [];
        foreach (new RecursiveIteratorIterator(new RecursiveDirectoryIterator($folder, FilesystemIterator::SKIP_DOTS)) as $file) {
            $files[] = substr($file->getPathname(), strlen($folder) + 1);
        }
        sort($files);

        return array_values(array_filter($files, static fn (string $file): bool => !preg_match('~(^|/)\.|^vendor/|\.sqlite~', $file)));
    }
}
