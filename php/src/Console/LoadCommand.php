<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue\Console\Dump\JobLine;
use DelayQueue\Console\Dump\Restorer;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\OutputInterface;
use UnexpectedValueException;

final class LoadCommand extends Command
{
    public function __construct()
    {
        parent::__construct('load');
    }

    protected function configure(): void
    {
        $this->setDescription('Puts the jobs of a dump back; those whose id is there already are left as they are')
            ->addArgument('file', InputArgument::OPTIONAL, 'What dump printed; -, or none: standard input')
            ->setHelp(<<<'TEXT'
                  delayqueue load orders.ndjson
                  delayqueue load orders.ndjson --queue=other        into this queue, whatever the dump says

                Restored are id, payload, state, due time, priority, TTR, time limit, backoff, attempts, their limit and the last error.
                A job that was held is restored as if its lease had run out. Not restored are the due time of buried jobs (which nothing
                looks at), the time of creation, the counters of the history, and the last error of a job without attempts.

                A load that was broken off is finished by running it again.
                TEXT . "\n\n" . Application::EXIT_CODES);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $target = new Target($input);
        $into = $target->named() === [] ? null : $target->queue(['format' => 'raw']);
        $restorers = [];
        $loaded = $kept = 0;
        foreach (self::lines($input->getArgument('file') ?? '-') as $number => $line) {
            try {
                $job = JobLine::read($line);
            } catch (UnexpectedValueException $error) {
                throw new UnexpectedValueException("line $number is not of a dump, {$error->getMessage()} ($loaded loaded before it)", 0, $error);
            }
            $restorer = $restorers[$into === null ? $job->queue : '']
                ??= new Restorer($into ?? $target->open($job->queue, ['format' => 'raw']));
            $restorer->restore($job) ? $loaded++ : $kept++;
        }
        Format::raw($output, "$loaded loaded, $kept kept");

        return ExitCode::OK;
    }

    /** @return iterable<int, string> by their numbers, without empty ones */
    private static function lines(string $file): iterable
    {
        $stream = $file === '-' ? STDIN : @fopen($file, 'r');
        if ($stream === false) {
            throw new UsageException("cannot read $file");
        }
        for ($number = 1; ($line = fgets($stream)) !== false; $number++) {
            if (trim($line) !== '') {
                yield $number => $line;
            }
        }
    }
}
