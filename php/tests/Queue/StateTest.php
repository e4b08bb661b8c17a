<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Queue;

use DelayQueue\DuplicateJobException;
use DelayQueue\JobInterface;
use DelayQueue\LeaseLostException;
use DelayQueue\OnDuplicate;
use DelayQueue\QueueInterface;
use DelayQueue\State;
use DelayQueue\Testing;

/** Every operation on a job in every state: the table that the core is held against, too. */
final class StateTest extends QueueCase
{
    private const TABLE = __DIR__ . '/../../../tests/states.txt';

    public function testEveryOperationDoesToEveryStateWhatTheTableSays(): void
    {
        $wrong = [];
        foreach (self::table() as $operation => $cells) {
            foreach ($cells as $state => $expected) {
                foreach ([[1024, false], [5, true]] as [$priority, $wasReleased]) {
                    Testing::travelBack();
                    $queue = $this->queue('states-' . bin2hex(random_bytes(8)));
                    $ours = self::arrange($queue, $state, $operation === 'fail last' || $state === 'spent' ? 1 : 10, $priority, $wasReleased);
                    $found = self::perform($queue, $operation, $ours, $priority);
                    $found .= ' ' . self::shown($queue, $ours, $state, $found);
                    $expected = self::asPhpSeesIt($expected, $state, $operation);
                    if ($found !== $expected) {
                        $wrong[] = "$operation × $state, priority $priority, " . ($wasReleased ? 'released before' : 'new') . ": $found, not $expected";
                    }
                }
            }
        }
        $this->assertSame([], $wrong);
    }

    /** @return array<string, array<string, string>> "answer state" by operation and state; without what only the core has */
    private static function table(): array
    {
        $lines = preg_grep('/^#|^[^|]*\*/', (array) file(self::TABLE, FILE_IGNORE_NEW_LINES), PREG_GREP_INVERT);
        $rows = array_map(static fn (string $line): array => array_map(trim(...), explode('|', $line)), array_values((array) $lines));
        $states = array_slice(array_shift($rows), 1);
        $table = [];
        foreach ($rows as $row) {
            $table[array_shift($row)] = array_combine($states, $row);
        }

        return $table;
    }

    /** PHP's look at a job notices the end of a lease, and fail() does not tell what became of the job. */
    private static function asPhpSeesIt(string $expected, string $state, string $operation): string
    {
        [$answer, $after] = preg_split('/ +/', $expected);
        $after = $after === 'l' ? ($state === 'spent' ? 'B' : 'R') : $after;

        return (str_starts_with($operation, 'fail') && $answer !== 'lost' ? 'ok' : $answer) . " $after";
    }

    /** Brings the job x into a state. @return JobInterface as its holder of before, or of now, has it */
    private static function arrange(QueueInterface $queue, string $state, int $maxAttempts, int $priority, bool $wasReleased): JobInterface
    {
        $push = static fn (int $delay = 0): string => $queue->push(['n' => 1], $delay, 'x', $priority, 60, $maxAttempts);
        $push();
        if ($wasReleased) {
            $queue->reserveJob('x')->release();
        }
        $ours = $queue->reserveJob('x');
        // Nobody who holds a job settles it here: a job object that has settled says so, and asks no queue.
        if (in_array($state, ['expired', 'spent', 'theirs', 'buried'], true) || ($wasReleased && in_array($state, ['delayed', 'ready'], true))) {
            Testing::travel(61);
        }
        match (true) {
            $state === 'absent' => $queue->cancel('x'),
            $state === 'theirs' => $queue->reserveJob('x'),
            $state === 'buried' => $queue->reserveJob('x')->bury('why'),
            $state !== 'delayed' && $state !== 'ready' => null,
            $wasReleased => $queue->reserveJob('x')->release($state === 'ready' ? 0 : 3600),
            default => [$queue->cancel('x'), $push($state === 'ready' ? 0 : 3600)],
        };

        return $ours;
    }

    private static function perform(QueueInterface $queue, string $operation, JobInterface $ours, int $priority): string
    {
        $again = ['payload' => ['n' => 1], 'id' => 'x', 'priority' => $priority, 'ttr' => 60];
        $replace = ['onDuplicate' => OnDuplicate::Replace];
        $yes = static fn (bool $done): string => $done ? 'yes' : 'no';
        $leased = static function (callable $settle): string {
            try {
                $settle();
            } catch (LeaseLostException) {
                return 'lost';
            }

            return 'ok';
        };
        $pushed = static function (array $job) use ($queue, $again): string {
            try {
                $queue->push(...$job + $again);
            } catch (DuplicateJobException) {
                return 'duplicate';
            }

            return 'pushed';
        };
        $tried = static fn (array $job): string => $queue->tryPush(...$job + $again) === null ? 'none' : 'pushed';
        $once = static function (array $job) use ($queue): string {
            $job['receipt'] = 'r';
            [$first, $second] = [$queue->pushOnce([$job]), $queue->pushOnce([$job])];
            self::assertSame(1, $second->known, 'a receipt that is known changes nothing');
            $queue->forgetReceipts('r');

            return "$first->added$first->kept$first->known";
        };
        $purged = static fn (State ...$states): string => (string) $queue->purge(...$states);

        return match ($operation) {
            'ack' => $leased($ours->ack(...)),
            'ack many' => $queue->ackMany($ours) === 1 ? 'ok' : 'lost',
            'release' => $leased($ours->release(...)),
            'release later' => $leased(static fn () => $ours->release(3600)),
            'release urgent' => $leased(static fn () => $ours->release(priority: 3)),
            'release plain' => $leased(static fn () => $ours->release(priority: 1024)),
            'release uncounted' => $leased(static fn () => $ours->release(countAttempt: false)),
            'fail', 'fail last' => $leased(static fn () => $ours->fail('boom')),
            'bury' => $leased(static fn () => $ours->bury('boom')),
            'touch' => $leased($ours->touch(...)),
            'update held' => $leased(static fn () => $ours->update('new')),
            'cancel' => (string) $queue->cancel('x'),
            'reschedule now' => $yes($queue->reschedule('x', 0)),
            'reschedule later' => $yes($queue->reschedule('x', 3600)),
            'update' => $yes($queue->update('x', 'new')),
            'kick job' => $yes($queue->kickJob('x', resetAttempts: false)),
            'kick' => (string) $queue->kick(10, resetAttempts: false),
            'peek' => $queue->peek('x')?->state->value ?? 'none',
            'reserve job' => $queue->reserveJob('x') === null ? 'none' : 'got',
            'reserve' => $queue->reserve() === null ? 'none' : 'got',
            'push fail' => $pushed([]),
            'push keep' => $pushed(['onDuplicate' => OnDuplicate::Keep]),
            'push replace' => $pushed($replace),
            'replace later' => $pushed($replace + ['delay' => 3600]),
            'replace urgent' => $pushed($replace + ['priority' => $priority === 1024 ? 3 : 1024]),
            'try push' => $tried(['onDuplicate' => OnDuplicate::Keep]),
            'try replace' => $tried($replace),
            'once keep' => $once($again),
            'once replace' => $once($again + $replace),
            'once buried' => $once($again + $replace + ['state' => State::Buried]),
            'once alone' => $once(['id' => 'x']),
            'take' => (string) count($queue->consumer()),
            'take ahead' => (string) count($queue->consumer(9e9)),
            'purge' => $purged(),
            'purge delayed' => $purged(State::Delayed),
            'purge ready' => $purged(State::Ready),
            'purge reserved' => $purged(State::Reserved),
            'purge buried' => $purged(State::Buried),
            'forget' => $yes($queue->forget()),
            'list' => implode('', array_map(static fn (State $state): int => count($queue->list($state)), State::cases())),
            'stats' => implode('', [$queue->stats()->delayed, $queue->stats()->ready, $queue->stats()->reserved, $queue->stats()->buried]),
            'pause and resume' => $leased(static fn () => [$queue->pause(), $queue->resume()]),
        };
    }

    /** The state in which a look finds the job, and whose lease it is. */
    private static function shown(QueueInterface $queue, JobInterface $ours, string $before, string $answer): string
    {
        $state = $queue->peek('x')?->state;
        self::assertSame($state === null ? 0 : 1, $queue->count(), 'the counts agree');
        if ($state !== State::Reserved) {
            return match ($state) {
                null => '-',
                State::Delayed => 'D',
                State::Ready => 'R',
                State::Buried => 'B',
            };
        }
        try {
            $ours->touch();
        } catch (LeaseLostException) {
            return $answer === 'got' ? 'N' : ($before === 'theirs' ? 'T' : '?');
        }

        return 'L';
    }
}
