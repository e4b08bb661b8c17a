<?php

declare(strict_types=1);

namespace DelayQueue\Tests\DocsSite;

use DelayQueue\Docs\Inclusions;
use DelayQueue\Docs\Links;
use DelayQueue\Docs\Sample;
use DelayQueue\Docs\Site;
use DelayQueue\Tests\Docs\Session;
use PHPUnit\Framework\TestCase;

/** Every code sample of the documents runs, or says why it does not. */
final class SamplesTest extends TestCase
{
    /** So many samples may say so. Each has its reason, and samples.md of the site lists them. */
    private const MOST_NOT_RUN = 15;

    /**
     * @dataProvider documents
     *
     * @param list<Sample> $samples
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('documents')]
    public function testEverySampleRuns(string $document, array $samples): void
    {
        $session = new Session($document);
        try {
            foreach ($samples as $sample) {
                if ($sample->notRun === null) {
                    $session->try($sample);
                }
            }
            $this->addToAssertionCount(1);
        } finally {
            $session->close();
        }
    }

    /**
     * @dataProvider documents
     *
     * @param list<Sample> $samples
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('documents')]
    public function testEveryProgramThatAPageShowsIsStarted(string $document, array $samples): void
    {
        foreach ($samples as $number => $sample) {
            if ($sample->notRun === null && $sample->language === 'php' && $sample->title !== '') {
                $later = array_filter(array_slice($samples, $number + 1), static fn (Sample $other): bool => $other->notRun === null && $other->title !== $sample->title);
                // By its name, or by its folder where a command takes all of that.
                $names = [basename($sample->title, '.php'), ...(dirname($sample->title) === '.' ? [] : [' ' . dirname($sample->title) . "\n"])];
                $uses = array_filter($later, static fn (Sample $other): bool => str_replace($names, '', $other->code) !== $other->code);
                $this->assertNotSame([], $uses, "{$sample->name()} is written and never started");
            }
        }
        $this->addToAssertionCount(1);
    }

    public function testFewSamplesAreNotRun(): void
    {
        $all = array_merge(...array_column(array_values(self::documents()), 1));
        $notRun = array_filter($all, static fn (Sample $sample): bool => $sample->notRun !== null);
        $this->assertLessThanOrEqual(self::MOST_NOT_RUN, count($notRun), implode("\n", array_map(static fn (Sample $sample): string => $sample->name(), $notRun)));
        $this->assertGreaterThan(5 * count($notRun), count($all) + count($notRun), 'most of them are run');
    }

    /** @return array<string, array{string, list<Sample>}> */
    public static function documents(): array
    {
        $site = new Site(dirname(__DIR__, 2));
        $documents = [];
        foreach (array_keys($site->documents()) as $path) {
            $markdown = Inclusions::fill($site->read($path), static fn (string $file): string => $site->read(Links::resolve($path, $file)));
            $samples = Sample::of($path, $markdown);
            if ($samples !== []) {
                $documents[$path] = [$path, $samples];
            }
        }

        return $documents;
    }
}
