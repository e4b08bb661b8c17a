<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

use DelayQueue\Console\Failure;
use DelayQueue\Console\Format;
use DelayQueue\Console\Text;
use DelayQueue\Internal\Json;
use Symfony\Component\Console\Output\OutputInterface;
use Throwable;

/** Lines of workers and their parent about themselves, on standard error: jobs have standard output to themselves. */
final class Notices
{
    private readonly OutputInterface $output;

    public function __construct(OutputInterface $output, private readonly bool $asJson)
    {
        $this->output = Format::errors($output);
    }

    /** An error that ends a command whose log is JSON. */
    public static function complain(OutputInterface $output, Throwable $error): void
    {
        $fields = $output->isVerbose() ? ['trace' => Failure::trace($error)] : [];
        (new self($output, true))->say('failed', Failure::line($error), $fields, OutputInterface::VERBOSITY_QUIET);
    }

    /** @param array<string, mixed> $fields for JSON only */
    public function say(string $event, string $message, array $fields = [], int $verbosity = OutputInterface::VERBOSITY_NORMAL): void
    {
        $time = Text::moment(microtime(true));
        $line = $this->asJson
            ? Json::line(['time' => $time, 'event' => $event, 'message' => $message] + $fields + ['pid' => getmypid()])
            : "$time $message";
        $this->output->writeln($line, OutputInterface::OUTPUT_RAW | $verbosity);
    }
}
