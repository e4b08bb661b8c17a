<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue\State;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Completion\CompletionInput;
use Symfony\Component\Console\Completion\CompletionSuggestions;
use Throwable;

/**
 * Takes the place of a command while a shell completes a line: it knows values for the options and arguments that
 * several commands have.
 */
final class CompletingCommand extends Command
{
    /** Commands whose argument "name" is a queue. */
    private const NAME_QUEUES = ['check', 'forget', 'reseal', 'stats', 'watch'];

    public function __construct(private readonly Command $command)
    {
        parent::__construct($command->getName());
        $this->setDefinition($command->getDefinition())->setApplication($command->getApplication());
    }

    public function complete(CompletionInput $input, CompletionSuggestions $suggestions): void
    {
        $this->command->complete($input, $suggestions);
        $name = (string) $input->getCompletionName();
        $command = (string) $this->getName();
        $isOption = $input->mustSuggestOptionValuesFor($name);
        $values = match (true) {
            $isOption && in_array($name, ['queue', 'to', 'except', 'schedules-queue'], true),
            !$isOption && $name === 'name' && in_array($command, self::NAME_QUEUES, true) => self::queues($input),
            $name === 'state' && !str_starts_with($command, 'journal:') => array_column(State::cases(), 'value'),
            $isOption && in_array($name, ['format', 'log'], true) => [Format::TEXT, Format::JSON],
            default => [],
        };
        if ($command === 'stats' && $name === 'format') {
            $values[] = StatsCommand::PROMETHEUS;
        }
        $suggestions->suggestValues($values);
    }

    /** @return list<string> none where Redis does not answer: a shell has no place for the reason */
    private static function queues(CompletionInput $input): array
    {
        try {
            return (new Target($input))->anywhere()->queues();
        } catch (Throwable) {
            return [];
        }
    }
}
