<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Helper\QuestionHelper;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;
use Symfony\Component\Console\Question\ConfirmationQuestion;

/** The question before a deletion, and --force, which answers it. */
final class Confirmation
{
    public static function describe(Command $command): void
    {
        $command->addOption('force', null, InputOption::VALUE_NONE, 'Do not ask; needed where there is no terminal to ask on');
    }

    /**
     * @param callable(): string $question without its end
     *
     * @throws UsageException where nobody can be asked
     * @throws NothingDone when the answer is no
     */
    public static function ask(InputInterface $input, OutputInterface $output, callable $question): void
    {
        if ($input->getOption('force')) {
            return;
        }
        if (!$input->isInteractive() || !stream_isatty(STDIN)) {
            throw new UsageException('there is no terminal to ask on: --force deletes without asking');
        }
        if (!(new QuestionHelper())->ask($input, $output, new ConfirmationQuestion("{$question()}? [y/N] ", false))) {
            throw new NothingDone('nothing was deleted');
        }
    }
}
