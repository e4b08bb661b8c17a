<?php

declare(strict_types=1);

namespace DelayQueue\Docs;

use ReflectionClass;
use ReflectionMethod;
use RuntimeException;

/** The pages of the API, made of the stub: its declarations as they stand there, and its comments. */
final class Api
{
    /** Page => heading and classes. A class that is on none ends the run. */
    private const PAGES = [
        'delayqueue' => ['DelayQueue', ['DelayQueue']],
        'job' => ['Job', ['DelayQueue\Job']],
        'jobinfo' => ['JobInfo', ['DelayQueue\JobInfo']],
        'newjob' => ['NewJob', ['DelayQueue\NewJob']],
        'pushed' => ['PushOnce and PreparedJob', ['DelayQueue\PushOnce', 'DelayQueue\PreparedJob']],
        'settings' => ['QueueSettings', ['DelayQueue\QueueSettings']],
        'enlisted' => ['Enlisted', ['DelayQueue\Enlisted']],
        'groups' => ['Groups', ['DelayQueue\GroupLimits', 'DelayQueue\GroupStats']],
        'stats' => ['Stats', ['DelayQueue\Stats']],
        'backoff' => ['Backoff', ['DelayQueue\Backoff']],
        'enums' => ['Enums', ['DelayQueue\State', 'DelayQueue\WaitReason', 'DelayQueue\OnDuplicate', 'DelayQueue\OnExpiry', 'DelayQueue\StopReason', 'DelayQueue\WorkerOrder', 'DelayQueue\Event']],
        'exceptions' => ['Exceptions', [
            'DelayQueue\Exception', 'DelayQueue\InvalidArgument', 'DelayQueue\ConnectionException', 'DelayQueue\AuthenticationException', 'DelayQueue\ServerException',
            'DelayQueue\QueueFullException', 'DelayQueue\LeaseLostException', 'DelayQueue\DuplicateJobException', 'DelayQueue\PayloadException',
            'DelayQueue\SealException', 'DelayQueue\TimeoutException', 'DelayQueue\CancelledException', 'DelayQueue\ShutdownException',
            'DelayQueue\Release', 'DelayQueue\RateLimited', 'DelayQueue\Bury',
        ]],
        'interfaces' => ['Interfaces', ['DelayQueue\QueueInterface', 'DelayQueue\JobInterface']],
        'testing' => ['Testing', ['DelayQueue\Testing', 'DelayQueue\JobCall']],
    ];

    /** A declaration that is longer has a line for each parameter. */
    private const WIDTH = 90;

    /** Comments that a page of its own explains at more length. */
    private const PAGES_OF_TYPES = ['Options' => 'all of them are in [Options of a queue](../options.md). In the words of the stub: '];

    /** @var list<string> */
    private readonly array $lines;

    public function __construct(private readonly string $stub)
    {
        require_once $stub;
        $this->lines = file($stub, FILE_IGNORE_NEW_LINES);
    }

    /** @return array<string, string> path on the site => Markdown */
    public function pages(): array
    {
        $this->checkThatAllArePlaced();
        $pages = ['api/index.md' => $this->overview()];
        foreach (self::PAGES as $page => [$heading, $classes]) {
            $isAlone = count($classes) === 1;
            $text = "# $heading\n" . ($isAlone ? '' : "\nAll of the namespace `DelayQueue`.\n");
            foreach ($classes as $class) {
                $text .= $this->describe(new ReflectionClass($class), $isAlone);
            }
            $pages["api/$page.md"] = $text;
        }

        return $pages;
    }

    private function overview(): string
    {
        preg_match('~/\*\*.*?\*/~s', implode("\n", $this->lines), $head);
        // Its first paragraph is about the file.
        $prose = explode("\n\n", (new DocComment($head[0]))->prose, 2)[1];
        $text = "# API\n\n$prose\n\nThese pages are made of `stubs/delayqueue.stub.php`, which a test holds to what the extension declares. "
            . "Point your IDE at that file.\n\n| | |\n|---|---|\n";
        foreach (self::PAGES as $page => [, $classes]) {
            foreach ($classes as $class) {
                $short = self::short($class);
                $anchor = count($classes) === 1 ? '' : '#' . strtolower($short);
                $first = explode("\n\n", (new DocComment((string) (new ReflectionClass($class))->getDocComment()))->prose)[0];
                $text .= "| [`$class`]($page.md$anchor) | " . strtr($first, ["\n" => ' ', '|' => '\|']) . " |\n";
            }
        }
        $text .= "\n## Types in comments\n\nStatic analysers know them, PHP does not.\n";
        foreach ((new DocComment((string) (new ReflectionClass('DelayQueue'))->getDocComment()))->types as $name => $definition) {
            $text .= "\n### $name\n\n```php\n$definition\n```\n";
        }

        return $text;
    }

    private function describe(ReflectionClass $class, bool $isAlone): string
    {
        $level = $isAlone ? '##' : '###';
        $text = $isAlone ? '' : "\n## " . self::short($class->getName()) . "\n";
        $text .= "\n" . self::prose($class->getDocComment()) . "\n\n```php\n" . $this->declaration($class) . "\n```\n";
        $own = array_filter($class->getMethods(), static fn (ReflectionMethod $method): bool => $method->getDeclaringClass()->getName() === $class->getName());
        foreach ($own as $method) {
            if ($method->getStartLine() !== false && $method->getFileName() !== false) {
                $text .= "\n$level " . $method->getName() . "()\n\n```php\n" . $this->signature($method) . "\n```\n\n" . $this->explain($method) . "\n";
            }
        }

        return $text;
    }

    /** The class without its methods, as it stands in the stub. */
    private function declaration(ReflectionClass $class): string
    {
        $lines = array_slice($this->lines, $class->getStartLine() - 1, $class->getEndLine() - $class->getStartLine() + 1);
        $text = self::dedent(implode("\n", $lines));
        $text = (string) preg_replace('~^ *(?:/\*\*(?:(?!\*/).)*\*/\s*)?(?:public )(?:static )?function .*?\{\}\n?~ms', '', $text);

        return rtrim((string) preg_replace(['/\n\s*\n(?=\s*\n|\})/', '/\{\s*\}$/'], ["\n", '{}'], $text));
    }

    private function signature(ReflectionMethod $method): string
    {
        $lines = array_slice($this->lines, $method->getStartLine() - 1, $method->getEndLine() - $method->getStartLine() + 1);

        $signature = (string) preg_replace('/ \{\}$/', '', self::dedent(implode("\n", $lines)));
        if (strlen($signature) <= self::WIDTH || str_contains($signature, "\n") || !preg_match('/^([^(]+\()(.+)(\).*?)$/', $signature, $part)) {
            return $signature;
        }

        return "$part[1]\n    " . preg_replace('/, (?=\S*[\\\\$?#\w|]+ \$|#)/', ",\n    ", $part[2]) . ",\n$part[3]";
    }

    private function explain(ReflectionMethod $method): string
    {
        $comment = new DocComment((string) $method->getDocComment());
        $text = [$comment->prose];
        $items = [];
        foreach ($comment->params as [$type, $name, $meaning]) {
            $items[] = "- `$name`, `$type`" . ($meaning === '' ? '' : ': ' . (self::PAGES_OF_TYPES[$type] ?? '') . $meaning);
        }
        $text[] = implode("\n", $items);
        $text[] = $comment->returns === null ? '' : '**Returns** ' . self::typed($comment->returns);
        $text[] = implode("\n", array_map(static fn (array $thrown): string => '- **throws** ' . self::typed($thrown), $comment->throws));

        return implode("\n\n", array_filter($text, static fn (string $part): bool => $part !== ''));
    }

    /** @param array{string, string} $tag */
    private static function typed(array $tag): string
    {
        return "`$tag[0]`" . ($tag[1] === '' ? '' : (str_starts_with($tag[1], 'when') || str_starts_with($tag[1], 'with') ? ' ' : ': ') . $tag[1]);
    }

    private static function prose(string|false $comment): string
    {
        return (new DocComment((string) $comment))->prose;
    }

    private static function dedent(string $text): string
    {
        $lines = explode("\n", $text);
        $indent = strspn($lines[0], ' ');

        return implode("\n", array_map(static fn (string $line): string => substr($line, min($indent, strspn($line, ' '))), $lines));
    }

    private static function short(string $class): string
    {
        return substr((string) strrchr("\\$class", '\\'), 1);
    }

    private function checkThatAllArePlaced(): void
    {
        $placed = array_merge(...array_column(array_values(self::PAGES), 1));
        foreach ([...get_declared_classes(), ...get_declared_interfaces()] as $class) {
            if ((new ReflectionClass($class))->getFileName() === realpath($this->stub) && !in_array($class, $placed, true)) {
                throw new RuntimeException("$class of the stub is on no page: name it in docs/tools/src/Api.php");
            }
        }
    }
}
