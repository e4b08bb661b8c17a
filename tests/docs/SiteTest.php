<?php

declare(strict_types=1);

namespace DelayQueue\Tests\DocsSite;

use DelayQueue\Docs\LatenessPicture;
use DelayQueue\Docs\Links;
use DOMDocument;
use DOMElement;
use DOMXPath;
use FilesystemIterator;
use PHPUnit\Framework\TestCase;
use RecursiveDirectoryIterator;
use RecursiveIteratorIterator;
use ReflectionExtension;

/** The finished site, as ./build.sh docs has made it in DOCS_SITE: its links, its search, and that it is drawn as it was meant. */
final class SiteTest extends TestCase
{
    /** @var array<string, DOMXPath> by path on the site */
    private static array $pages = [];

    public static function setUpBeforeClass(): void
    {
        foreach (new RecursiveIteratorIterator(new RecursiveDirectoryIterator(self::site(), FilesystemIterator::SKIP_DOTS)) as $file) {
            $path = substr($file->getPathname(), strlen(self::site()) + 1);
            if (str_ends_with($path, '.html') && $path !== '404.html') {
                $document = new DOMDocument();
                @$document->loadHTMLFile($file->getPathname());
                self::$pages[$path] = new DOMXPath($document);
            }
        }
    }

    public static function tearDownAfterClass(): void
    {
        self::$pages = [];
    }

    public function testEveryLinkLeadsSomewhere(): void
    {
        $count = 0;
        $broken = [];
        foreach (self::$pages as $path => $page) {
            foreach ($page->query('//a/@href | //img/@src | //script/@src | //link[not(@rel="canonical")]/@href') as $link) {
                $count++;
                $target = $link->nodeValue;
                if (preg_match('~^[a-z]+:~', $target)) {
                    if (!preg_match('~^(https://[\w.-]+\.[a-z]+(/\S*)?|mailto:\S+@\S+)$~', $target) || str_contains($target, ' ')) {
                        $broken[] = "$path: $target is no address";
                    }
                } elseif (!self::leadsSomewhere($path, $target)) {
                    $broken[] = "$path: $target";
                }
            }
        }
        $this->assertSame([], array_values(array_unique($broken)));
        $this->assertGreaterThan(1000, $count);
    }

    public function testEveryPageIsInTheNavigation(): void
    {
        $linked = [];
        foreach (self::$pages['index.html']->query('//nav[contains(@class, "md-nav--primary")]//a/@href') as $link) {
            $linked[] = $link->nodeValue === '.' ? 'index.html' : $link->nodeValue;
        }
        $this->assertSame([], array_values(array_diff(array_keys(self::$pages), $linked)), 'docs/mkdocs.yml names it under nav');
    }

    public function testNothingIsLoadedFromElsewhere(): void
    {
        foreach (self::$pages as $path => $page) {
            foreach ($page->query('//img/@src | //script/@src | //link[@rel="stylesheet"]/@href') as $source) {
                $this->assertDoesNotMatchRegularExpression('~^([a-z]+:)?//~', $source->nodeValue, "$path works without a network");
            }
        }
    }

    public function testTheSearchKnowsEveryPage(): void
    {
        $index = json_decode((string) file_get_contents(self::site() . '/search/search_index.json'), true, flags: JSON_THROW_ON_ERROR)['docs'];
        $known = array_unique(array_map(static fn (array $entry): string => strtok($entry['location'], '#') ?: 'index.html', $index));
        $this->assertSame([], array_diff(array_keys(self::$pages), $known));
        $find = static fn (string $words): array => array_filter($index, static fn (array $entry): bool => str_contains($entry['text'], $words));
        foreach (['clear_env' => 'recipes/php-fpm.html', 'prefetch' => 'api/delayqueue.html', 'acknowledge jobs, and lease' => 'scripts.html'] as $words => $page) {
            $pages = array_map(static fn (array $entry): string => strtok($entry['location'], '#'), $find(ucfirst($words)) + $find($words));
            $this->assertContains($page, $pages, $words);
        }
        $this->assertNotSame([], glob(self::site() . '/assets/javascripts/workers/search*.js'), 'what searches in the browser');
        $this->assertSame(1, self::$pages['index.html']->query('//input[@data-md-component="search-query"]')->length);
    }

    public function testTheMarkdownIsDrawnAndNotShown(): void
    {
        foreach (self::$pages as $path => $page) {
            foreach ($page->query('//article//p | //article//li') as $paragraph) {
                $text = self::ownText($paragraph);
                $this->assertDoesNotMatchRegularExpression('/```|^\s*([-*]|\d+\.) |\n([-*]|\d+\.) |<!--|\]\(|^\|/', $text, $path);
            }
            $this->assertSame(1, $page->query('//article//h1')->length, "$path has one heading");
        }
    }

    public function testEveryPictureSaysWhatItShows(): void
    {
        $pictures = 0;
        foreach (self::$pages as $path => $page) {
            foreach ($page->query('//article//img') as $picture) {
                $pictures++;
                $this->assertGreaterThan(30, strlen($picture->getAttribute('alt')), "$path: {$picture->getAttribute('src')}");
            }
        }
        $this->assertGreaterThanOrEqual(3, $pictures);
    }

    public function testThePagesOfTheApiHaveEveryMethodOfTheExtension(): void
    {
        $headings = [];
        foreach (self::$pages as $path => $page) {
            foreach (str_starts_with($path, 'api/') ? $page->query('//article//h2 | //article//h3') : [] as $heading) {
                $headings[] = rtrim($heading->textContent, '¶');
            }
        }
        foreach ((new ReflectionExtension('delayqueue'))->getClasses() as $class) {
            foreach ($class->isEnum() ? [] : $class->getMethods() as $method) {
                if ($method->getDeclaringClass()->getName() === $class->getName() && $method->isPublic() && $method->getName() !== '__construct') {
                    $this->assertContains("{$method->getName()}()", $headings, $class->getName());
                }
            }
        }
    }

    public function testTypesOfTheApiAreWhole(): void
    {
        $types = [];
        foreach (self::$pages as $path => $page) {
            foreach (str_starts_with($path, 'api/') ? $page->query('//article//p[starts-with(., "Returns")]/code[1]') : [] as $type) {
                $types[] = $type->textContent;
                foreach (['<' => '>', '{' => '}'] as $opens => $closes) {
                    $this->assertSame(substr_count($type->textContent, $opens), substr_count($type->textContent, $closes), $type->textContent);
                }
            }
        }
        $this->assertContains('int<0, max>', $types);
    }

    public function testThePageOfTheOptionsNamesEachOne(): void
    {
        $root = dirname(__DIR__, 2);
        $this->assertSame(1, preg_match('/@psalm-type Options = array\{(.*?)\* \}/s', (string) file_get_contents("$root/stubs/delayqueue.stub.php"), $type));
        preg_match_all('/(\w+)\?:/', $type[1], $options);
        preg_match_all('/^\| (.*?) \|/m', (string) file_get_contents("$root/docs/options.md"), $rows);
        preg_match_all('/`(\w+)`/', implode(' ', $rows[1]), $named);
        $this->assertSame([], array_diff($options[1], $named[1]), 'docs/options.md has a row for it');
    }

    public function testThePictureOfLatenessIsDrawnFromItsData(): void
    {
        $images = dirname(__DIR__, 2) . '/docs/images';
        $this->assertStringEqualsFile("$images/lateness.svg", LatenessPicture::draw((string) file_get_contents("$images/lateness.csv")));
    }

    private static function site(): string
    {
        $site = getenv('DOCS_SITE') ?: dirname(__DIR__, 2) . '/target/docs/site';
        self::assertDirectoryExists($site, './build.sh docs makes it');

        return (string) realpath($site);
    }

    private static function leadsSomewhere(string $from, string $target): bool
    {
        [$file, $anchor] = explode('#', $target, 2) + [1 => ''];
        $path = $file === '' ? $from : Links::resolve($from, (string) preg_replace('/\?.*/', '', $file));
        if (str_ends_with($file, '/') || $path === '' || is_dir(self::site() . "/$path")) {
            $path = ltrim("$path/index.html", '/');
        }
        if (!is_file(self::site() . "/$path")) {
            return false;
        }

        return $anchor === '' || !isset(self::$pages[$path]) || self::$pages[$path]->query("//*[@id='" . rawurldecode($anchor) . "']")->length > 0;
    }

    /** The text of an element, without that of lists and code in it. */
    private static function ownText(DOMElement $element): string
    {
        $text = '';
        foreach ($element->childNodes as $child) {
            $isOther = $child instanceof DOMElement && in_array($child->tagName, ['ul', 'ol', 'pre', 'code', 'div', 'p', 'table'], true);
            $text .= $isOther ? "[$child->tagName]" : $child->textContent;
        }

        return $text;
    }
}
