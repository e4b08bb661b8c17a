<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

use RuntimeException;

/** Prints the tables as they come and the figures at the end, and keeps all of it in a Markdown and a JSON file. */
final class Report
{
    private string $markdown = '';

    /** @var array<string, Table> */
    private array $tables = [];

    /** @var list<Figure> */
    private array $figures = [];

    /** @var array<string, string> */
    private array $about;

    public function __construct(private readonly Settings $settings)
    {
        $scaled = $settings->scale === 1.0 ? '' : ", scaled by $settings->scale: only good for trying the benchmarks";
        $this->about = [
            'date' => date(DATE_ATOM),
            'run' => sprintf('%s, %d runs%s', $settings->quick ? 'quick' : 'full', $settings->runs, $scaled),
        ] + Machine::describe() + ['load before' => Machine::load()];
        $this->print("# Benchmarks of delayqueue\n\n" . self::items($this->about));
        $this->print("Peers:\n\n" . self::items(self::legend($settings->peers)));
        $this->print("Medians of the runs. Compare rows of one table, and nothing else (see bench/README.md).\n");
    }

    public function add(Table $table, Figure ...$figures): void
    {
        $this->tables[$table->name] = $table;
        array_push($this->figures, ...$figures);
        $this->print($table->toMarkdown());
    }

    /** Prints the figures and writes the files. */
    public function finish(): void
    {
        if ($this->figures !== []) {
            $this->print($this->figuresAsMarkdown());
        }
        $this->about['load after'] = Machine::load();
        $this->print(self::items(['load after' => $this->about['load after'], 'finished' => date(DATE_ATOM)]));
        $result = [
            'about' => $this->about,
            'peers' => self::legend($this->settings->peers),
            'tables' => array_map(static fn (Table $table) => $table->toArray(), $this->tables),
            'figures' => array_map(static fn (Figure $figure) => $figure->cells(), $this->figures),
        ];
        $this->write('md', $this->markdown);
        $flags = JSON_PRETTY_PRINT | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_THROW_ON_ERROR;
        $this->write('json', json_encode($result, $flags) . "\n");
    }

    private function figuresAsMarkdown(): string
    {
        $text = "## Figures\n\n| figure | measured | wanted | met |\n| --- | --: | --: | --- |\n";
        foreach ($this->figures as $figure) {
            $text .= '| ' . implode(' | ', $figure->cells()) . " |\n";
        }

        return $text;
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
