<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue\Dump\JobLine;
use DelayQueue\Dump\LineException;
use DelayQueue\Dump\Load;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\OutputInterface;

final class LoadCommand extends Command
{
    public function __construct()
    {
        parent::__construct('load');
    }

    protected function configure(): void
    {
        $most = JobLine::MOST_ATTEMPTS;
        $this->setDescription('Puts the jobs of a dump back; those whose id is there already are left as they are')
            ->addArgument('file', InputArgument::OPTIONAL, 'A file with the output of dump; -, or none: standard input')
            ->setHelp(<<<TEXT
                  delayqueue load orders.ndjson
                  delayqueue load orders.ndjson --queue=other        into this queue, whatever the dump says

                The command restores id, payload, headers, state, due time, priority, TTR, time limit, backoff, attempts, their limit and the last
                error. It restores a job that was held as if its lease had run out. It does not restore the due time of buried jobs (which
                nothing looks at), the time of creation, the counters of the history, and the last error of a job without attempts.
                At a line that it cannot load it ends and names the line; a job with more than $most attempts is one.

                Sealed jobs are stored as the dump has them, which needs no keys; others are sealed if there are keys.

                To finish a load that was broken off, run it again.
                TEXT . "\n\n" . Application::EXIT_CODES);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $target = new Target($input);
        $into = $target->named() === [] ? null : $target->queue()->name();
        $lines = self::lines($input->getArgument('file') ?? '-');
        $loaded = $kept = 0;
        try {
            foreach ((new Load($target->dsn(), $target->options()))->lines($lines, $into) as $isNew) {
                $isNew ? $loaded++ : $kept++;
            }
        } catch (LineException $error) {
            $why = $error->getPrevious() === null ? '' : Failure::line($error->getPrevious());
            throw new NothingDone("line $error->key is not a job that can be loaded: $why ($loaded loaded, $kept kept before it)", 0, $error);
        }
        Format::raw($output, "$loaded loaded, $kept kept");

        return ExitCode::OK;
    }

    /** @return iterable<int, string> by their numbers */
    private static function lines(string $file): iterable
    {
        $stream = $file === '-' ? STDIN : @fopen($file, 'r');
        if ($stream === false) {
            throw new UsageException("cannot read $file");
        }
        for ($number = 1; ($line = fgets($stream)) !== false; $number++) {
            yield $number => $line;
        }
    }
}
