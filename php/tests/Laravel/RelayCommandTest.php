<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel;

use DelayQueue\Tests\Laravel\Support\Deed;
use DelayQueue\Tests\Laravel\Support\OutboxTestCase;
use DelayQueue\Tests\Support\Wait;
use InvalidArgumentException;

/** delayqueue:relay, in this process and in one of its own. */
final class RelayCommandTest extends OutboxTestCase
{
    protected function setUp(): void
    {
        parent::setUp();
        $this->bootOutbox();
    }

    public function testAPassLeavesRowsThatAreYoung(): void
    {
        $this->leave('one');
        $this->artisan('delayqueue:relay', ['--once' => true]);
        $this->assertSame([1, 0], [$this->rows(), $this->arrived()]);
        $this->artisan('delayqueue:relay', ['--once' => true, '--after' => '0', '--batch' => '1', '--connection' => 'delayqueue']);
        $this->assertSame([0, 1], [$this->rows(), $this->arrived()]);
    }

    public function testAPassGoesOnBehindARowThatFails(): void
    {
        $this->bootWithOutbox(['options' => ['partitions' => 4]]);
        $this->leave('bad', 'parts');
        $this->bootWithOutbox();
        $this->leave('good');
        $this->artisan('delayqueue:relay', ['--once' => true, '--after' => '0', '--batch' => '1'], 1);
        $this->assertSame([1, 1], [$this->rows(), $this->arrived()]);
    }

    public function testAPassEndsWhileOthersInsert(): void
    {
        $this->leave('first');
        $others = 5;
        $this->shop()->listen(function (object $query) use (&$others): void {
            if (str_starts_with($query->sql, 'delete from delayqueue_outbox') && $others > 0) {
                $others--;
                $this->leave("other $others");
            }
        });
        $this->relay();
        $this->assertSame([1, 1], [$this->rows(), $this->arrived()], 'a batch that is not full is the last one');
    }

    public function testAWrongDurationOrNumberIsRefused(): void
    {
        $this->leave('one');
        foreach (['--after' => ['x', '1 fortnight', ''], '--batch' => ['abc', '0', '1001']] as $option => $values) {
            foreach ($values as $value) {
                $this->assertStringContainsString("$option must be a", $this->artisan('delayqueue:relay', ['--once' => true, $option => $value], 2));
            }
        }
        // A minute, not one second.
        $this->shop()->statement('update delayqueue_outbox set placed = placed - 20000000');
        $this->artisan('delayqueue:relay', ['--once' => true, '--after' => '1m']);
        $this->assertSame([1, 0], [$this->rows(), $this->arrived()]);
    }

    public function testARelayRunsUntilItIsTold(): void
    {
        $relay = $this->start('delayqueue:relay', '--after=0');
        foreach (['one', 'two'] as $name) {
            $this->leave($name);
            Wait::until(fn (): bool => $this->rows() === 0, 20, 'the relay');
        }
        $this->assertSame(2, $this->arrived());
        $relay->signal(SIGTERM);
        $this->assertSame(0, $relay->exitCode());

        $relay = $this->start('delayqueue:relay', '--after=0');
        $this->leave('three');
        Wait::until(fn (): bool => $this->rows() === 0, 20, 'the relay');
        $this->artisan('queue:restart');
        $this->assertSame(0, $relay->exitCode());
    }

    public function testOneRelayServesQueuesOfAllNames(): void
    {
        foreach (['a b', '{other}', '..'] as $name) {
            $this->leave($name, $name);
        }
        $this->relay();
        foreach (['a b', '{other}', '..'] as $name) {
            $this->assertSame(1, $this->queue()->size($name), $name);
        }
    }

    public function testARelayWithOtherPartitionsLeavesTheRowAndSaysWhy(): void
    {
        $this->bootWithOutbox(['options' => ['partitions' => 4]]);
        $this->leave('one');
        $this->bootWithOutbox();
        $this->assertStringContainsString('partitions', $this->relay(1));
        $this->assertSame([1, 0], [$this->rows(), $this->arrived()]);
        $this->assertStringContainsString('partitions', $this->log());
    }

    public function testAConnectionWithoutAnOutboxHasNoRelay(): void
    {
        $this->bootWithOutbox(['outbox' => false]);
        $this->expectException(InvalidArgumentException::class);
        $this->expectExceptionMessage('outbox');
        $this->relay();
    }

    /** A job whose process has ended before it could push it. */
    private function leave(string $name, ?string $queue = null): void
    {
        $this->shop()->beginTransaction();
        $this->queue()->push(new Deed($name), '', $queue);
        $this->queue()->outbox()->rows()->discard();
        $this->shop()->commit();
    }
}
