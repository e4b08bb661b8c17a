<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue\Backoff;
use DelayQueue\OnDuplicate;
use DelayQueue\OnExpiry;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

final class PushCommand extends Command
{
    public function __construct()
    {
        parent::__construct('push');
    }

    protected function configure(): void
    {
        $value = InputOption::VALUE_REQUIRED;
        $this->setDescription('Adds a job and prints its id')
            ->addOption('delay', null, $value, 'The job is due after this: seconds, 500ms, 15m, 2h30m, PT15M (default: now)')
            ->addOption('id', null, $value, 'Its id (default: a UUIDv7)')
            ->addOption('group', null, $value, 'Its group: groups take turns, and may have limits (default: none)')
            ->addOption('priority', null, $value, 'Smaller is sooner; in a group only within it (default: 1024)')
            ->addOption('ttr', null, $value, 'How long a worker may hold it (default: 60s)')
            ->addOption('max-attempts', null, $value, 'Bury the job when this many attempts have failed; 0: no limit (default: 10)')
            ->addOption('backoff', null, $value, 'Delays between the attempts: "15s 3m 10m", the last one repeats; or "fixed 1m", "linear 2m 1m" (default: "exponential 5s 2 1h 0.1")')
            ->addOption('timeout', null, $value, 'Time limit of one run of the handler; 0: none')
            ->addOption('header', null, $value | InputOption::VALUE_IS_ARRAY, 'A header of the job: "name: value"; give the option once for each')
            ->addOption('expires', null, $value, 'It never runs if no worker has started it so long after its due time, or by this moment: 1h, or "tomorrow 9:00"')
            ->addOption('on-expiry', null, $value, 'What becomes of it then: bury or drop', 'bury')
            ->addOption('retry-until', null, $value, 'No attempt is made later than so long after its due time, or than this moment')
            ->addOption('on-duplicate', null, $value, 'When the id is in the queue already: fail, keep or replace', 'fail')
            ->addOption('unique', null, $value, 'With --id: the id stays taken for so long, also when its job is done or cancelled')
            ->addOption('max-wait', null, $value, 'With --on-duplicate=replace: a job that is replaced again and again is due at the latest so long after the first push')
            ->setHelp(<<<'TEXT'
                  delayqueue push '{"order": 4711}' --queue=orders --delay=15m --id=order-4711
                  delayqueue push '{"order": 4711}' --header='tenant: acme' --header='traceparent: 00-4bf9…-01'
                  delayqueue push '{"order": 4711}' --group=tenant-42 --queue=orders
                  generate-report | delayqueue push - --raw --at='tomorrow 3:00'
                TEXT . "\n\n" . Application::EXIT_CODES . "\n\n  1 is also for an id that is taken with --on-duplicate=fail.");
        PayloadInput::describe($this);
        Moment::describe($this);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $option = $input->getOption(...);
        $payload = PayloadInput::read($input, $output);
        // The bytes go in as they are: decoding and encoding again would turn {} into [] and round numbers.
        $queue = (new Target($input))->queue(['format' => 'raw']);
        $id = $queue->push(
            $payload,
            delay: Moment::of($input, $option('delay'), '0'),
            id: $option('id'),
            priority: Number::orNull($option('priority'), 'priority'),
            ttr: $option('ttr'),
            maxAttempts: Number::orNull($option('max-attempts'), 'max-attempts'),
            backoff: $option('backoff') === null ? null : Backoff::parse($option('backoff')),
            timeout: $option('timeout'),
            onDuplicate: OnDuplicate::tryFrom($option('on-duplicate')) ?? throw new UsageException('--on-duplicate must be fail, keep or replace'),
            headers: Headers::parse($option('header')),
            unique: $option('unique'),
            maxWait: $option('max-wait'),
            expires: Moment::orDuration($option('expires'), 'expires'),
            onExpiry: OnExpiry::tryFrom($option('on-expiry')) ?? throw new UsageException('--on-expiry must be bury or drop'),
            retryUntil: Moment::orDuration($option('retry-until'), 'retry-until'),
            group: $option('group'),
        );
        Format::raw($output, $id);

        return ExitCode::OK;
    }
}
