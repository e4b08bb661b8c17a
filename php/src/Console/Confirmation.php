<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Helper\QuestionHelper;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;
use Symfony\Component\Console\Question\ConfirmationQuestion;

/** The question before many jobs change, and the option that answers it: --force where they are deleted. */
final class Confirmation
{
    public static function describe(Command $command, string $option = 'force'): void
    {
        $command->addOption($option, null, InputOption::VALUE_NONE, 'Do not ask; needed where there is no terminal to ask on');
    }

    /**
     * @param callable(): string $question without its end
     * @param array{string, string, string} $words the option, what it does, and what was not done
     *
     * @throws UsageException where nobody can be asked
     * @throws NothingDone when the answer is no
     */
    public static function ask(
        InputInterface $input,
        OutputInterface $output,
        callable $question,
        array $words = ['force', 'deletes', 'deleted'],
    ): void
    {
        [$option, $does, $done] = $words;
        if ($input->getOption($option)) {
            return;
        }
        if (!$input->isInteractive() || !stream_isatty(STDIN)) {
            throw new UsageException("there is no terminal to ask on: --$option $does without asking");
        }
        if (!(new QuestionHelper())->ask($input, $output, new ConfirmationQuestion("{$question()}? [y/N] ", false))) {
            throw new NothingDone("nothing was $done");
        }
    }
}
