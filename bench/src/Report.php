<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

use RuntimeException;

/** Prints the sections as they come, and keeps all of them in a Markdown and a JSON file. */
final class Report
{
    private string $markdown = '';

    /** @var array<string, Section> */
    private array $sections = [];

    /** @var array<string, string> */
    private array $about;

    public function __construct(private readonly Settings $settings)
    {
        $this->about = [
            'date' => date(DATE_ATOM),
            'run' => sprintf(
                '%s, %d runs%s',
                $settings->quick ? 'quick' : 'full',
                $settings->runs,
                $settings->scale == 1 ? '' : ", scaled by $settings->scale: only good for trying the benchmarks",
            ),
        ] + Machine::describe() + ['load before' => Machine::load()];
        $this->print("# Benchmarks of delayqueue\n\n" . self::items($this->about));
        $this->print("Peers:\n\n" . self::items(self::legend($settings->peers)));
        $this->print("Medians; compare rows of one table, and nothing else (see bench/README.md).\n");
    }

    public function add(Section $section): void
    {
        $this->sections[$section->name()] = $section;
        $this->print($section->toMarkdown());
    }

    /** Adds the goals and writes the files. */
    public function finish(): void
    {
        $goals = new Goals(array_filter($this->sections, static fn (Section $section) => $section instanceof Table));
        if (!$goals->isEmpty()) {
            $this->add($goals);
        }
        $this->about['load after'] = Machine::load();
        $this->print(self::items(['load after' => $this->about['load after'], 'finished' => date(DATE_ATOM)]));
        $result = ['about' => $this->about, 'peers' => self::legend($this->settings->peers)];
        foreach ($this->sections as $name => $section) {
            $result['sections'][$name] = $section->toArray();
        }
        $this->write('md', $this->markdown);
        $flags = JSON_PRETTY_PRINT | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_THROW_ON_ERROR;
        $this->write('json', json_encode($result, $flags) . "\n");
    }

    private function print(string $text): void
    {
        $this->markdown .= "$text\n";
        echo "$text\n";
    }

    private function write(string $ending, string $text): void
    {
        $file = "{$this->settings->out}.$ending";
        $folder = dirname($file);
        if ((!is_dir($folder) && !mkdir($folder, 0o777, true)) || file_put_contents($file, $text) === false) {
            throw new RuntimeException("cannot write $file");
        }
        fwrite(STDERR, "wrote $file\n");
    }

    /**
     * @param list<string> $peers
     *
     * @return array<string, string>
     */
    private static function legend(array $peers): array
    {
        $legend = [];
        foreach ($peers as $peer) {
            $traits = Peers::traits($peer);
            $versions = [];
            foreach (Machine::versions($traits->packages) as $package => $version) {
                $versions[] = "$package $version";
            }
            $legend[$peer] = $traits->is . ($versions === [] ? '' : ' (' . implode(', ', $versions) . ')');
        }

        return $legend;
    }

    /** @param array<string, string> $items */
    private static function items(array $items): string
    {
        $lines = '';
        foreach ($items as $name => $item) {
            $lines .= "- $name: $item\n";
        }

        return $lines;
    }
}
