<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue;
use DelayQueue\Exception;
use Symfony\Component\Console\Input\InputDefinition;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;

/** The queues that the options of every command point at. */
final class Target
{
    public static function describe(InputDefinition $definition): void
    {
        $value = InputOption::VALUE_REQUIRED;
        $definition->addOptions([
            new InputOption('dsn', null, $value, 'Where Redis is; else php.ini\'s delayqueue.dsn, else DELAYQUEUE_DSN, where other users of the machine do not see its password'),
            new InputOption('prefix', null, $value, 'What all keys begin with; else php.ini\'s delayqueue.prefix, else DELAYQUEUE_PREFIX'),
            new InputOption('partitions', null, $value, 'Over how many hash tags the queue is spread; else DELAYQUEUE_PARTITIONS, else 1'),
            new InputOption('keys-file', null, $value, 'The keys that seal payloads, a line "id base64" each; else DELAYQUEUE_KEYS_FILE, else none'),
            new InputOption('signed', null, InputOption::VALUE_NONE, 'With keys: payloads stay readable in Redis, and are only authenticated'),
            new InputOption('queue', null, $value | InputOption::VALUE_IS_ARRAY, 'The queue; else DELAYQUEUE_QUEUE, else default'),
        ]);
    }

    public function __construct(private readonly InputInterface $input)
    {
    }

    /**
     * The one queue that is meant.
     *
     * @param array<string, mixed> $options of DelayQueue
     *
     * @throws UsageException when several are named
     */
    public function queue(array $options = []): DelayQueue
    {
        return $this->open($this->name(), $options);
    }

    /**
     * As queue(), of one that is there.
     *
     * @throws UsageException when there is no such queue, or several are named
     */
    public function existing(): DelayQueue
    {
        $queue = $this->queue();
        $this->refuseUnknown($queue->name());

        return $queue;
    }

    /**
     * The name of the one queue that is meant.
     *
     * @return non-empty-string
     *
     * @throws UsageException when several are named
     */
    public function name(): string
    {
        $names = $this->names();
        if (count($names) > 1) {
            throw new UsageException('this command works on one queue: give --queue once');
        }

        return $names[0];
    }

    /** As name(), but null where --queue says nothing: then all queues are meant. */
    public function nameOrAll(): ?string
    {
        return $this->named() === [] ? null : $this->name();
    }

    /**
     * One object that serves all of them, the first one first. From now on --dsn and --prefix hold for every other object of this process, too,
     * whose program says nothing else: a handler finds the queues that its worker serves.
     *
     * @param array<string, mixed> $options of DelayQueue
     */
    public function watching(array $options = []): DelayQueue
    {
        $names = $this->names();
        // Each is opened, and so refused if it has more partitions than are looked at.
        $queues = array_map(fn (string $name): DelayQueue => $this->open($name, $options), $names);
        foreach (['dsn', 'prefix'] as $setting) {
            if ($this->input->getOption($setting) !== null) {
                ini_set("delayqueue.$setting", $this->input->getOption($setting));
            }
        }

        return $queues[0]->watch(...$names);
    }

    /**
     * @param non-empty-string $name
     * @param array<string, mixed> $options of DelayQueue
     */
    public function open(string $name, array $options = []): DelayQueue
    {
        return $this->openWithoutKeys($name, $options + $this->options());
    }

    /**
     * Sealed jobs of this one are as they are stored.
     *
     * @param non-empty-string $name
     * @param array<string, mixed> $options of DelayQueue
     */
    public function openWithoutKeys(string $name, #[\SensitiveParameter] array $options = []): DelayQueue
    {
        $options += $this->place();
        $queue = new DelayQueue($name, $this->dsn(), $options);
        self::refuseToSeeOnlyAPart($queue, $name, $options['partitions']);

        return $queue;
    }

    /**
     * One of all queues, which nobody has named: with all of its partitions, and without keys unless the options have them.
     *
     * @param non-empty-string $name
     * @param array<string, mixed> $options of DelayQueue
     */
    public function openWhole(string $name, #[\SensitiveParameter] array $options = []): DelayQueue
    {
        return WholeQueue::open($name, $this->dsn(), $options + $this->place());
    }

    /** For calls that are about all queues of this prefix and Redis. */
    public function anywhere(): DelayQueue
    {
        return new DelayQueue('default', $this->dsn(), $this->place());
    }

    /** The value of --dsn. */
    public function dsn(): ?string
    {
        return $this->input->getOption('dsn');
    }

    /** @return array<string, mixed> of DelayQueue: all that the command line says of them */
    public function options(): array
    {
        $keys = $this->keys();

        return $this->place() + ($keys === null ? [] : ['keys' => $keys, 'signed' => $this->input->getOption('signed')]);
    }

    /** @return array{partitions: int, prefix?: string} options of DelayQueue: where the queues are */
    public function place(): array
    {
        $prefix = $this->input->getOption('prefix');

        return ['partitions' => $this->partitions()] + ($prefix === null ? [] : ['prefix' => $prefix]);
    }

    private function partitions(): int
    {
        return Number::of($this->input->getOption('partitions') ?? self::environment('DELAYQUEUE_PARTITIONS') ?? '1', '--partitions', 1);
    }

    /** A worker or a dump that knows of fewer partitions than producers use would leave jobs out. */
    private static function refuseToSeeOnlyAPart(DelayQueue $queue, string $name, int $partitions): void
    {
        try {
            $known = $queue->partitions();
        } catch (Exception) {
            return; // The command itself will say why Redis does not answer; a worker waits for it.
        }
        if ($known > $partitions) {
            throw new UsageException("queue $name has jobs in $known partitions: give --partitions=$known");
        }
    }

    /** @throws UsageException when one of these queues is not there: its name may be mistyped */
    public function refuseUnknown(string ...$names): void
    {
        UnknownQueue::refuse($this, ...$names);
    }

    /** @return non-empty-array<array-key, string>|null the keys that seal payloads; null: none are named */
    public function keys(): ?array
    {
        $file = $this->input->getOption('keys-file') ?? self::environment('DELAYQUEUE_KEYS_FILE');
        if ($file === null && $this->input->getOption('signed')) {
            throw new UsageException('--signed needs keys: --keys-file or DELAYQUEUE_KEYS_FILE');
        }

        return $file === null ? null : KeysFile::read($file);
    }

    /** @return non-empty-list<string> */
    public function names(): array
    {
        return $this->named() ?: [self::environment('DELAYQUEUE_QUEUE') ?? 'default'];
    }

    /** @throws UsageException when --queue names one, which the command would ignore: it is about all of them */
    public function refuseNames(string $why): void
    {
        if ($this->named() !== []) {
            throw new UsageException("give no --queue: $why");
        }
    }

    /** @return list<string> only what --queue says */
    public function named(): array
    {
        return array_values(array_unique($this->input->getOption('queue')));
    }

    /** Whether nobody has said which queue is meant. */
    public function isUsual(): bool
    {
        return $this->named() === [] && self::environment('DELAYQUEUE_QUEUE') === null;
    }

    private static function environment(string $name): ?string
    {
        $value = getenv($name);

        return $value === false || $value === '' ? null : $value;
    }
}
