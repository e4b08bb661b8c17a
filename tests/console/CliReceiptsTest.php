<?php

declare(strict_types=1);

namespace DelayQueue\Tests\CommandLine;

use DelayQueue;
use DelayQueue\Tests\Support\CliTestCase;

/** Ids that stay taken, debounces that run, and receipts, on the command line. */
final class CliReceiptsTest extends CliTestCase
{
    public function testAnIdStaysTakenForAsLongAsThePushSays(): void
    {
        $push = ['push', '1', '--id=order-4711', '--unique=10m'];
        $this->assertSame("order-4711\n", $this->cliExpecting(0, ...$push));
        $this->cliExpecting(0, 'cancel', 'order-4711');
        $this->assertStringContainsString('order-4711', $this->cliExpecting(1, ...$push));
        $this->assertSame("order-4711\n", $this->cliExpecting(0, ...[...$push, '--on-duplicate=keep']));
        $this->assertCount(0, $this->queue());
        $this->assertStringContainsString('an id is taken', $this->cliExpecting(1, 'forget', $this->queueName));
        $this->assertSame("1 forgotten\n", $this->cliExpecting(0, 'forget-receipts', 'order-4711'));
        $this->cliExpecting(0, ...$push);
        $this->assertCount(1, $this->queue());
        $this->assertSame("delayqueue: unique must not be given without an id\n", $this->cliExpecting(2, 'push', '1', '--unique=10m'));
        $this->assertStringContainsString('unique ', $this->cliExpecting(2, 'push', '1', '--id=a', '--unique=soon'));
    }

    public function testAJobThatIsReplacedAgainAndAgainIsDueAtTheLatestAfterMaxWait(): void
    {
        $push = static fn (int $n): array => ['push', "$n", '--id=a', '--delay=1h', '--on-duplicate=replace', '--max-wait=90m'];
        $this->cliExpecting(0, ...$push(1));
        $first = $this->queue()->peek('a');
        $this->cliExpecting(0, 'push', '2', '--id=a', '--delay=3h', '--on-duplicate=replace', '--max-wait=90m');
        $second = $this->queue()->peek('a');
        $this->assertSame(2, $second->payload);
        $this->assertEqualsWithDelta($first->dueAt + 1800, $second->dueAt, 1);
        $this->assertStringContainsString('max-wait ', $this->cliExpecting(2, 'push', '1', '--id=a', '--max-wait=90m'));
    }

    public function testReceiptsAreListed(): void
    {
        $queue = $this->queue();
        $queue->pushOnce(array_map(static fn (int $n): array => ['receipt' => "outbox/$n", 'payload' => $n, 'delay' => 60], range(1, 150)));
        $queue->pushOnce([['receipt' => "b\u{FF}\xFF", 'payload' => 1, 'delay' => 60]]);
        $this->assertCount(100, $this->json('receipts', '--format=json'), 'as many as other lists');
        $this->assertCount(151, $this->json('receipts', '--format=json', '--limit=1000'));
        $this->assertSame("b\\xC3\\xBF\\xFF\n", $this->cliExpecting(0, 'receipts', '--starting-with=b'));
        $this->assertSame([], $this->json('receipts', '--older-than=1h', '--format=json'));
        $this->assertSame('', $this->cliExpecting(0, 'receipts', '--older-than=1h'));
        $this->assertStringContainsString('there is no queue mistyped', $this->cliExpecting(2, 'receipts', '--queue=mistyped'));
        $this->assertStringContainsString('older-than ', $this->cliExpecting(2, 'receipts', '--older-than=x'));
        $this->cliExpecting(2, 'receipts', '--limit=0');
    }

    public function testReceiptsAreForgottenByNameBeginningAndAge(): void
    {
        $spread = new DelayQueue('spread', $this->redis->dsn(), ['partitions' => 3]);
        $spread->pushMany(array_fill(0, 30, ['payload' => 1]));
        $receipts = array_map(static fn (int $n): string => ($n % 2 === 1 ? 'odd/' : 'even/') . $n, range(1, 2400));
        $spread->pushOnce(array_map(static fn (string $receipt): array => ['receipt' => $receipt], $receipts));
        $spread->push(1, id: 'odd/taken', unique: '1h');
        $forget = fn (int $code, string ...$options): string => $this->cliExpecting($code, 'forget-receipts', '--queue=spread', ...$options);
        $this->assertStringContainsString('give --partitions=3', $forget(2, 'odd/1'));

        $this->assertSame("3 forgotten\n", $forget(0, 'odd/1', 'odd/3', 'odd/taken', 'nothing', '--partitions=3'));
        $this->assertSame([], $spread->takenIds());
        $this->assertStringContainsString('0 forgotten', $this->cli('forget-receipts', 'odd/1', '--queue=spread', '--partitions=3')->output);
        $forget(1, 'odd/1', '--partitions=3');
        $this->assertStringContainsString('--force', $forget(2, '--starting-with=odd/', '--partitions=3'));
        $this->assertSame("0 forgotten\n", $forget(0, '--older-than=1h', '--force', '--partitions=3'));
        $this->assertSame("1198 forgotten\n", $forget(0, '--starting-with=odd/', '--force', '--partitions=3'));
        $this->assertCount(1200, $spread->receipts(limit: 5000));
        $this->assertSame("1200 forgotten\n", $forget(0, '--older-than=0', '--force', '--partitions=3'));
        foreach ([[], ['odd/1', '--starting-with=odd/'], ['odd/1', '--older-than=1h']] as $wrong) {
            $this->assertStringContainsString('give names, or --starting-with or --older-than', $forget(2, '--partitions=3', ...$wrong));
        }
    }
}
