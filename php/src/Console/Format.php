<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue\Internal\Json;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Formatter\OutputFormatter;
use Symfony\Component\Console\Helper\Table;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\ConsoleOutputInterface;
use Symfony\Component\Console\Output\OutputInterface;

/** Lists for people, and for programs. */
final class Format
{
    public const TEXT = 'text';
    public const JSON = 'json';

    /** Gives the command the option --format. */
    public static function describe(Command $command, string ...$more): void
    {
        $all = implode(', ', [self::TEXT, self::JSON, ...$more]);
        $command->addOption('format', null, InputOption::VALUE_REQUIRED, "How to print: $all", self::TEXT);
    }

    /** @throws UsageException when the command knows no such format */
    public static function of(InputInterface $input, string ...$more): string
    {
        $format = $input->getOption('format');
        $known = [self::TEXT, self::JSON, ...$more];
        if (!in_array($format, $known, true)) {
            throw new UsageException("--format=$format is unknown: " . implode(', ', array_slice($known, 0, -1)) . ' or ' . end($known));
        }

        return $format;
    }

    /**
     * @param list<string> $header
     * @param list<list<string>> $rows stored bytes, or what else there is to print
     */
    public static function table(OutputInterface $output, array $header, array $rows): void
    {
        $plain = static fn (string $cell): string => OutputFormatter::escape(Text::printable($cell));
        (new Table($output))
            ->setStyle('compact')
            ->setHeaders($header)
            ->setRows(array_map(static fn (array $row): array => array_map($plain, $row), $rows))
            ->render();
    }

    /** A line for people, of stored bytes or words that may contain some. */
    public static function line(OutputInterface $output, string $text): void
    {
        self::raw($output, Text::printable($text));
    }

    /** A line for people that begins with a word in a colour, where there are colours: on a terminal, without NO_COLOR. */
    public static function marked(OutputInterface $output, string $colour, string $word, string $rest): void
    {
        $output->writeln("<fg=$colour>$word</>" . OutputFormatter::escape(Text::printable($rest)));
    }

    /** Standard error, for what is no result. */
    public static function errors(OutputInterface $output): OutputInterface
    {
        return $output instanceof ConsoleOutputInterface ? $output->getErrorOutput() : $output;
    }

    /** A line for people on standard error, since it is no result: for example that there is nothing to list. */
    public static function note(OutputInterface $output, string $text): void
    {
        self::line(self::errors($output), $text);
    }

    /** Text as it is, whatever it contains. */
    public static function raw(OutputInterface $output, string $text): void
    {
        $output->writeln($text, OutputInterface::OUTPUT_RAW);
    }

    public static function json(OutputInterface $output, mixed $value): void
    {
        self::raw($output, Json::line($value));
    }
}
