<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

use DelayQueue\Console\Duration;
use DelayQueue\Console\UsageException;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;

/** How many workers a pool has: a number, or a range within which they follow the load. */
final class Processes
{
    private const MOST = 1000;

    private const TARGET = '1s';

    private function __construct(public readonly int $least, public readonly int $most, public readonly float $target)
    {
    }

    public static function describe(Command $command): void
    {
        $value = InputOption::VALUE_REQUIRED;
        $command
            ->addOption('processes', null, $value, 'How many workers, up to 1000, or a range such as 2..10; more than one needs PHP\'s pcntl and posix', '1')
            ->addOption('scale-target', null, $value, 'With a range: workers are added while a job has waited longer than this; else 1s');
    }

    /** @throws UsageException */
    public static function of(InputInterface $input): self
    {
        $text = $input->getOption('processes');
        $isValid = preg_match('/^(\d{1,9})(?:\.\.(\d{1,9}))?$/D', $text, $found) === 1;
        [$least, $most] = [(int) ($found[1] ?? 0), (int) ($found[2] ?? $found[1] ?? 0)];
        if (!$isValid || $least < 1 || $most > self::MOST || isset($found[2]) && $least >= $most) {
            throw new UsageException('--processes must be a whole number from 1 to ' . self::MOST . ', or a range of them such as 2..10');
        }
        $target = $input->getOption('scale-target');
        if ($target !== null && $least === $most) {
            throw new UsageException('--scale-target needs a range of processes, such as --processes=2..10');
        }
        $seconds = Duration::of($target ?? self::TARGET, '--scale-target');

        return new self($least, $most, $seconds > 0 ? $seconds : throw new UsageException('--scale-target must be greater than 0'));
    }

    public function isRange(): bool
    {
        return $this->least < $this->most;
    }

    /** Null: their number stays. */
    public function scale(): ?Scale
    {
        return $this->isRange() ? new Scale($this->least, $this->most, $this->target) : null;
    }
}
