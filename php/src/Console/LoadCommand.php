<?php

declare(strict_types=1);

namespace DelayQueue\Console;

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
        $this->setDescription('Puts the jobs of a dump back, each line once; jobs whose id is there already are left as they are')
            ->addArgument('file', InputArgument::OPTIONAL, 'A file with the output of dump; -, or none: standard input')
            ->setHelp(<<<'TEXT'
                  delayqueue load orders.ndjson
                  delayqueue load orders.ndjson --queue=other        into this queue, whatever the dump says

                The command restores jobs with their past, receipts, and ids that are taken for some time. It restores a job that was held as if its
                lease had run out. It sets limits that the dump has, and keeps those that the queue has already. At a line that it cannot load it ends and
                names the line. It warns where lines of a dump are missing, such as its last one.

                Sealed jobs are stored as the dump has them, which needs no keys; others are sealed if there are keys.

                To finish a load that was broken off, run it again with the same dump. The queue keeps a receipt of each line, so that a line is
                loaded once, also into more partitions, and a job that is done meanwhile does not come back. Forget these receipts when you are done:

                  delayqueue forget-receipts --starting-with=load/ --queue=orders
                TEXT . "\n\n" . Application::EXIT_CODES);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $target = new Target($input);
        $into = $target->named() === [] ? null : $target->queue()->name();
        $file = $input->getArgument('file') ?? '-';
        [$name, $stream] = $file === '-' ? ['standard input', STDIN] : [$file, self::open($file)];
        $load = new Load($target->dsn(), $target->options());
        $size = fstat($stream)['size'] ?? 0; // of a pipe: 0
        $progress = new TerminalProgress($output, static fn (): int => $size, 'lines');
        $loaded = $not = 0;
        try {
            foreach ($load->lines(Streams::lines($stream), $into) as $isNew) {
                $isNew ? $loaded++ : $not++;
                $size > 0 ? $progress->to(min($size, (int) ftell($stream))) : $progress->advance();
            }
        } catch (LineException $error) {
            $why = $error->getPrevious() === null ? '' : Failure::line($error->getPrevious());
            throw new NothingDone("line $error->key cannot be loaded: $why (" . self::counts($load, $loaded, $not) . ' before it)', 0, $error);
        } catch (StreamError $error) {
            $counts = self::counts($load, $loaded, $not);
            throw new NothingDone("cannot read $name: {$error->getMessage()} ($counts before that)", 0, $error);
        } finally {
            $progress->clear();
        }
        foreach ($load->missing() as $what) {
            Format::line(Format::errors($output), "delayqueue: warning: $name may not be whole: $what");
        }
        Format::raw($output, self::counts($load, $loaded, $not));
        if ($loaded + $not > 0) {
            $cure = 'delayqueue forget-receipts --starting-with=' . Load::RECEIPTS . ' --queue=' . ($into ?? 'NAME');
            Format::raw($output, "No line of this dump is loaded again, even when its job is done or deleted. To allow it: $cure");
        }

        return ExitCode::OK;
    }

    private static function counts(Load $load, int $loaded, int $not): string
    {
        $known = $load->known();

        return "$loaded loaded, " . ($not - $known) . ' kept' . ($known > 0 ? ", $known known from before" : '');
    }

    /** @return resource */
    private static function open(string $file)
    {
        try {
            return Streams::open($file);
        } catch (StreamError $error) {
            throw new UsageException("cannot read $file: {$error->getMessage()}", 0, $error);
        }
    }
}
