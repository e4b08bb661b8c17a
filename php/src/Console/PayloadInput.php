<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use JsonException;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

/** The payload of push and update. */
final class PayloadInput
{
    public static function describe(Command $command): void
    {
        $command->addArgument('payload', InputArgument::OPTIONAL, 'JSON, stored byte for byte; -, or none: from standard input')
            ->addOption('raw', null, InputOption::VALUE_NONE, 'The payload is bytes, not JSON');
    }

    /** @throws UsageException when it is not JSON, unless it may be bytes */
    public static function read(InputInterface $input, OutputInterface $output): string
    {
        $payload = $input->getArgument('payload');
        if ($payload === null && stream_isatty(STDIN)) {
            throw new UsageException('give a payload, or - for standard input');
        }
        $payload = $payload === null || $payload === '-' ? self::standardInput($output) : $payload;
        if (!$input->getOption('raw')) {
            if (trim($payload) === '') {
                throw new UsageException('the payload is empty: give JSON as an argument or on standard input; --raw takes bytes, also none');
            }
            try {
                json_decode($payload, flags: JSON_THROW_ON_ERROR);
            } catch (JsonException $error) {
                throw new UsageException("the payload is not JSON ({$error->getMessage()}); --raw takes bytes", 0, $error);
            }
        }

        return $payload;
    }

    /** Where nothing comes for a second, it says what it waits for. */
    private static function standardInput(OutputInterface $output): string
    {
        [$read, $none] = [[STDIN], []];
        if (@stream_select($read, $none, $none, 1) === 0) {
            $errors = Format::errors($output);
            Format::raw($errors, 'delayqueue: waiting for the payload on standard input');
        }

        try {
            return Streams::contents(STDIN);
        } catch (StreamError $error) {
            throw new NothingDone("cannot read the payload from standard input: {$error->getMessage()}", 0, $error);
        }
    }
}
