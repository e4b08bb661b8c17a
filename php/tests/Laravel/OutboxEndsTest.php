<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel;

use DelayQueue\Laravel\Events\DuplicateKept;
use DelayQueue\Laravel\Facades\DelayQueue;
use DelayQueue\OnDuplicate;
use DelayQueue\Tests\Laravel\Support\Deed;
use DelayQueue\Tests\Laravel\Support\OutboxTestCase;
use DelayQueue\Tests\Laravel\Support\Told;
use DelayQueue\Tests\Laravel\Support\UniqueDeed;
use DelayQueue\Tests\Laravel\Support\UniqueLocks;
use Illuminate\Support\Facades\Bus;

/** Jobs that end as rows of the outbox, or because of one, without their handler. */
final class OutboxEndsTest extends OutboxTestCase
{
    use UniqueLocks;

    protected function setUp(): void
    {
        parent::setUp();
        $this->bootOutbox();
    }

    public function testARowThatIsKeptOutReleasesItsLockAndCountsInItsBatch(): void
    {
        $kept = $this->listenFor(DuplicateKept::class);
        Deed::dispatch('waits')->delay(60)->identifiedBy('taken');
        $batch = null;
        $this->shop()->transaction(function () use (&$batch): void {
            UniqueDeed::dispatch('unique')->identifiedBy('taken', OnDuplicate::Keep);
            $batch = Bus::batch([(new Deed('a'))->identifiedBy('taken', OnDuplicate::Keep), new Deed('b')])->dispatch();
        });
        $this->assertUnlocked('unique');
        $this->assertSame(1, $batch->fresh()->pendingJobs);
        $this->assertSame(['taken', 'taken'], array_column($kept->getArrayCopy(), 'id'));
        $this->queue()->bulk([(new UniqueDeed('in bulk'))->identifiedBy('taken', OnDuplicate::Keep)]);
        $this->assertCount(3, $kept);
    }

    public function testTheRelaySettlesWhatItKeepsOutReplacesAndCancels(): void
    {
        UniqueDeed::dispatch('cancelled')->delay(60)->identifiedBy('cancelled');
        UniqueDeed::dispatch('displaced')->delay(60)->identifiedBy('displaced');
        Deed::dispatch('waits')->delay(60)->identifiedBy('taken');
        $this->bootWithoutRedis();
        $this->shop()->transaction(function (): void {
            DelayQueue::cancel('cancelled', 'default');
            Deed::dispatch('newer')->identifiedBy('displaced', OnDuplicate::Replace);
            UniqueDeed::dispatch('kept out')->identifiedBy('taken', OnDuplicate::Keep);
        });
        $this->bootWithOutbox();
        foreach (['cancelled', 'displaced', 'kept out'] as $name) {
            $this->assertLocked($name);
        }
        $this->relay();
        foreach (['cancelled', 'displaced', 'kept out'] as $name) {
            $this->assertUnlocked($name);
        }
        $this->assertSame(['newer', 'waits'], $this->names());
    }

    public function testAJobThatIsCancelledInTheTransactionThatDispatchedItEndsAtTheCommit(): void
    {
        $batch = null;
        $this->shop()->transaction(function () use (&$batch): void {
            UniqueDeed::dispatch('unique')->identifiedBy('unique');
            $chain = [(new Deed('a'))->identifiedBy('a'), new Deed('b')];
            $batch = Bus::batch([$chain])->then(new Told('then'))->dispatch();
            Bus::chain([(new Deed('one'))->identifiedBy('one'), new Deed('two')])->catch(new Told('catch'))->dispatch();
            $this->assertSame(3, DelayQueue::cancel(['unique', 'a', 'one'], 'default'));
            $this->assertLocked('unique');
        });
        $this->assertUnlocked('unique');
        $this->assertSame([0, true], [$batch->fresh()->pendingJobs, $batch->fresh()->finished()]);
        $this->assertSame(1, $this->lines('/^told then/'));
        $this->assertSame(1, $this->lines("/^told catch job 'one' in queue 'default' was cancelled/"));
        $this->assertSame(0, $this->arrived());
    }

    public function testACancellationThatIsRolledBackEndsNothing(): void
    {
        UniqueDeed::dispatch('unique')->delay(60)->identifiedBy('unique');
        $this->shop()->beginTransaction();
        DelayQueue::cancel('unique');
        $this->shop()->rollBack();
        $this->assertLocked('unique');
    }
}
