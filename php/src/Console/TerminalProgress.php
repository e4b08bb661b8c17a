<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use Symfony\Component\Console\Helper\ProgressBar;
use Symfony\Component\Console\Output\OutputInterface;
use Symfony\Component\Console\Output\StreamOutput;

/** How far a long command is, on standard error if that is a terminal. It leaves no trace there, and writes nothing elsewhere. */
final class TerminalProgress
{
    private const FORMAT = ' [%bar%] %percent:3s%%, %remaining:6s% left';

    private readonly ?ProgressBar $bar;

    /**
     * @param callable(): int $count how many steps there are, asked on a terminal alone; 0: nobody knows
     * @param string $unit of the steps
     */
    public function __construct(OutputInterface $output, callable $count, string $unit)
    {
        if ($output->isQuiet() || !stream_isatty(STDERR) || getenv('TERM') === 'dumb') {
            $this->bar = null;

            return;
        }
        $steps = $count();
        // It moves the cursor and has no colours, so NO_COLOR is not about it.
        $this->bar = new ProgressBar(new StreamOutput(STDERR, decorated: true), $steps);
        $this->bar->setFormat($steps > 0 ? self::FORMAT : " %current% $unit");
        $this->bar->start();
    }

    public function to(int $step): void
    {
        $this->bar?->setProgress($step);
    }

    public function advance(): void
    {
        $this->bar?->advance();
    }

    /** Takes it off the terminal, before something else is written. */
    public function clear(): void
    {
        $this->bar?->clear();
    }
}
