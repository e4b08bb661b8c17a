<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Queue;

use ArrayIterator;
use Closure;
use DateInterval;
use DelayQueue\JobInfo;
use DelayQueue\OnDuplicate;
use DelayQueue\QueueInterface;
use DelayQueue\State;

/** Refusals of the jobs of pushMany() and pushOnce(), by their position and their key. */
final class ItemErrorTest extends QueueCase
{
    private const KEYS = "'payload', 'delay', 'id', 'priority', 'ttr', 'maxAttempts', 'backoff', 'timeout', 'onDuplicate', 'headers', 'unique', 'maxWait', "
        . "'expires', 'onExpiry', 'retryUntil', 'group'";

    /** @return array<string, array{Closure(QueueInterface): mixed, string}> */
    public static function wrongItems(): array
    {
        return self::items('pushMany', 2, [
            'no array' => ['x', 'TypeError: @ must be of type array, string given'],
            'null' => [null, 'TypeError: @ must be of type array, null given'],
            'nothing' => [[], 'ValueError: @: "payload" must be given'],
            'no payload' => [['delay' => 1], 'ValueError: @: "payload" must be given'],
            'a mistyped key' => [['payload' => 1, 'dely' => 1], 'ValueError: @ has the unknown key "dely"; did you mean \'delay\'?'],
            'a number as key' => [['payload' => 1, 7 => 1], 'ValueError: @ has the unknown key "7"; there are ' . self::KEYS . " and 'extras'"],
            'a broken key' => [['payload' => 1, "\xff" => 1], "ValueError: @ has the unknown key \"\u{fffd}\"; there are " . self::KEYS . " and 'extras'"],
            'a negative delay' => [['payload' => 1, 'delay' => -1], 'ValueError: @: "delay" must be greater than or equal to 0'],
            'null as delay' => [['payload' => 1, 'delay' => null], 'TypeError: @: "delay" must be of type DateInterval|DateTimeInterface|string|int|float, null given'],
            'a list as delay' => [['payload' => 1, 'delay' => []], 'TypeError: @: "delay" must be of type DateInterval|DateTimeInterface|string|int|float, array given'],
            'an empty id' => [['payload' => 1, 'id' => ''], 'ValueError: @: "id" must be between 1 and 200 bytes long'],
            'a list as id' => [['payload' => 1, 'id' => []], 'TypeError: @: "id" must be of type ?string, array given'],
            'a priority' => [['payload' => 1, 'priority' => -1], 'ValueError: @: "priority" must be between 0 and 4294967295'],
            'a word as priority' => [['payload' => 1, 'priority' => 'high'], 'TypeError: @: "priority" must be of type ?int, string given'],
            'a list as priority' => [['payload' => 1, 'priority' => []], 'TypeError: @: "priority" must be of type ?int, array given'],
            'a TTR' => [['payload' => 1, 'ttr' => 0], 'ValueError: @: "ttr" must be between 0.1 seconds and 30 days'],
            'attempts' => [['payload' => 1, 'maxAttempts' => 1.5e10], 'ValueError: @: "maxAttempts" must be between 0 and 4294967295'],
            'a word as backoff' => [['payload' => 1, 'backoff' => '5s'], 'TypeError: @: "backoff" must be of type ?DelayQueue\Backoff, string given'],
            'a timeout' => [['payload' => 1, 'timeout' => 'soon'], 'ValueError: @: "timeout" must be a number of seconds or a duration such as "500ms", "15m", "2h30m", "1d" or "PT15M"'],
            'a word as rule' => [['payload' => 1, 'onDuplicate' => 'keep'], 'TypeError: @: "onDuplicate" must be of type DelayQueue\OnDuplicate, string given'],
            'a word as end' => [['payload' => 1, 'onExpiry' => 'drop'], 'TypeError: @: "onExpiry" must be of type DelayQueue\OnExpiry, string given'],
            'a list as group' => [['payload' => 1, 'group' => []], 'TypeError: @: "group" must be of type ?string, array given'],
            'unique without an id' => [['payload' => 1, 'unique' => '10m'], 'ValueError: @: "unique" must not be given without an id'],
            'two ends' => [['payload' => 1, 'expires' => 1, 'retryUntil' => 1], 'ValueError: @: "retryUntil" must not be given together with expires'],
            'no number' => [['payload' => NAN], 'PayloadException: @: Inf and NaN cannot be JSON encoded'],
            'no text' => [['payload' => "\xff"], 'PayloadException: @: Malformed UTF-8 characters, possibly incorrectly encoded'],
            'a closure' => [['payload' => static fn () => 1], 'PayloadException: @: A Closure cannot be a payload'],
        ]);
    }

    /** @return array<string, array{Closure(QueueInterface): mixed, string}> */
    public static function wrongItemsOnce(): array
    {
        $good = ['receipt' => 'r', 'payload' => 1];

        return self::items('pushOnce', 1, [
            'no array' => ['x', 'TypeError: @ must be of type array, string given'],
            'nothing' => [[], 'ValueError: @: "receipt" must be given'],
            'no receipt' => [['payload' => 1], 'ValueError: @: "receipt" must be given'],
            'null as receipt' => [['receipt' => null, 'payload' => 1], 'TypeError: @: "receipt" must be of type string, null given'],
            'a list as receipt' => [['receipt' => []], 'TypeError: @: "receipt" must be of type string, array given'],
            'an empty receipt' => [['receipt' => ''], 'ValueError: @: "receipt" must be between 1 and 200 bytes long'],
            'a long receipt' => [['receipt' => str_repeat('r', 201)], 'ValueError: @: "receipt" must be between 1 and 200 bytes long'],
            'a broken receipt' => [['receipt' => "r\n"], 'ValueError: @: "receipt" must not contain control characters'],
            'a mistyped key' => [['recipt' => 'r'] + $good, 'ValueError: @ has the unknown key "recipt"; did you mean \'receipt\'?'],
            'a number as key' => [
                [7 => 'r'] + $good,
                'ValueError: @ has the unknown key "7"; there are ' . self::KEYS . ", 'extras', 'receipt', 'createdAt', 'past', 'state' and 'seal'",
            ],
            'no payload' => [['receipt' => 'r', 'delay' => 5], 'ValueError: @: "payload" must be given with delay'],
            'no payload in a group' => [['receipt' => 'r', 'id' => 'x', 'group' => 'g'], 'ValueError: @: "payload" must be given with group'],
            'a broken group' => [['group' => "\t"] + $good, 'ValueError: @: "group" must not contain control characters'],
            'unique without an id' => [['receipt' => 'r', 'unique' => 5], 'ValueError: @: "unique" must not be given without an id'],
            'a delay' => [['delay' => -1] + $good, 'ValueError: @: "delay" must be greater than or equal to 0'],
            'a rule' => [
                ['onDuplicate' => OnDuplicate::Fail] + $good,
                'ValueError: @: "onDuplicate" must be OnDuplicate::Keep or Replace: a job whose id is taken is kept, and counted',
            ],
            'a word as rule' => [['onDuplicate' => 'keep'] + $good, 'TypeError: @: "onDuplicate" must be of type DelayQueue\OnDuplicate, string given'],
            'a state' => [['state' => State::Ready] + $good, 'ValueError: @: "state" must be State::Buried or null'],
            'a word as state' => [['state' => 'buried'] + $good, 'TypeError: @: "state" must be of type ?DelayQueue\State, string given'],
            'made before 1970' => [['createdAt' => -1] + $good, 'ValueError: @: "createdAt" must be greater than or equal to 0'],
            'made never' => [['createdAt' => INF] + $good, 'ValueError: @: "createdAt" must be finite'],
            'made by a word' => [['createdAt' => 'yesterday'] + $good, 'TypeError: @: "createdAt" must be of type int|float|null, string given'],
            'made in ages' => [['createdAt' => 1e15] + $good, 'ValueError: @: "createdAt" must lie before the year 10000'],
            'a number as past' => [['past' => 3] + $good, 'TypeError: @: "past" must be of type ?array, int given'],
            'an unknown past' => [['past' => ['acks' => 1]] + $good, 'ValueError: @: "past" has the unknown key "acks"'],
            'a list as past' => [['past' => [3]] + $good, 'ValueError: @: "past" has the unknown key "0"'],
            'a negative past' => [['past' => ['attempts' => -1]] + $good, 'ValueError: @: "past.attempts" must be between 0 and 4294967294'],
            'null in the past' => [['past' => ['kicks' => null]] + $good, 'TypeError: @: "past.kicks" must be of type int, null given'],
            'a large past' => [['past' => ['kicks' => 1 << 32]] + $good, 'ValueError: @: "past.kicks" must be between 0 and 4294967294'],
            'due before 1970' => [['past' => ['firstDueAt' => -5]] + $good, 'ValueError: @: "past.firstDueAt" must be greater than or equal to 0'],
            'due by a word' => [['past' => ['firstDueAt' => 'once']] + $good, 'TypeError: @: "past.firstDueAt" must be of type int|float|null, string given'],
            'a list as error' => [['past' => ['lastError' => []]] + $good, 'TypeError: @: "past.lastError" must be of type ?string, array given'],
            'the extras of nothing' => [['extras' => 'x'] + $good, 'ValueError: @: "extras" must be the extras of a JobInfo, which this version can keep'],
            'a longest wait' => [['maxWait' => 5] + $good, 'ValueError: @: "maxWait" must not be given without an id and OnDuplicate::Replace'],
            'two ends' => [['expires' => 1, 'retryUntil' => 1] + $good, 'ValueError: @: "retryUntil" must not be given together with expires'],
            'no number' => [['payload' => NAN] + $good, 'PayloadException: @: Inf and NaN cannot be JSON encoded'],
        ]);
    }

    /**
     * @param array<string, array{mixed, string}> $wrong items, and their errors, with @ where the place is named
     *
     * @return array<string, array{Closure(QueueInterface): mixed, string}> calls whose item at this position is wrong, and their errors
     */
    private static function items(string $method, int $position, array $wrong): array
    {
        $good = $method === 'pushOnce' ? ['receipt' => 'good', 'payload' => 1] : ['payload' => 1];
        $before = $position === 1 ? [$good] : [$good, 'named' => $good];
        $cases = [];
        foreach ($wrong as $name => [$item, $words]) {
            $place = str_starts_with($words, 'PayloadException') ? "item $position" : "$method(): Argument #1 (\$jobs) item $position";
            $cases["$method, $name"] = [static fn (QueueInterface $queue) => $queue->$method([...$before, $item]), str_replace('@', $place, $words)];
        }
        $words = "ValueError: $method(): Argument #1 (\$jobs) item 1: \"ttr\" must be between 0.1 seconds and 30 days";
        $jobs = static fn () => yield from [$good, 'k' => ['ttr' => 0] + $good];

        return $cases + ["$method, of a generator" => [static fn (QueueInterface $queue) => $queue->$method($jobs()), $words]];
    }

    /**
     * @dataProvider wrongItems
     * @dataProvider wrongItemsOnce
     *
     * @param Closure(QueueInterface): mixed $call
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('wrongItems')]
    #[\PHPUnit\Framework\Attributes\DataProvider('wrongItemsOnce')]
    public function testAWrongItemIsRefusedBeforeAnythingIsSent(Closure $call, string $words): void
    {
        $this->assertSame($words, self::thrown(static fn () => $call(self::nowhere())));
    }

    public function testNothingToSendNeedsNoConnection(): void
    {
        foreach ([$this->queue(), self::nowhere()] as $queue) {
            $this->assertSame([[], [], 0, 0, 0], [$queue->pushMany([]), $queue->pushMany(new ArrayIterator([])), $queue->cancel(), $queue->ackMany(), $queue->forgetReceipts()]);
            foreach ([$queue->pushOnce([]), $queue->pushOnce(new ArrayIterator([]))] as $once) {
                $this->assertSame(['added' => 0, 'kept' => 0, 'known' => 0], get_object_vars($once));
            }
        }
    }
}
