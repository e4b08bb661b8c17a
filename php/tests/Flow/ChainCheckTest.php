<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Flow;

use DelayQueue\Bury;
use DelayQueue\DuplicateJobException;
use DelayQueue\Flow\Chain;
use DelayQueue\Flow\Follow;
use DelayQueue\State;
use ValueError;

/** Looking at chains, and healing what no event tells. */
final class ChainCheckTest extends ChainCase
{
    public function testStatusTellsWhereTheChainStands(): void
    {
        $this->chain('c', ['delay' => '1h'], ['queue' => 'other'], [])->push($this->queue());
        $status = Chain::status($this->queue('any'), 'c');
        $this->assertSame(['c', 1, 3, 'c', 'links', State::Delayed, null], array_values((array) $status));

        $this->travel('1h');
        $this->work();
        $status = Chain::status($this->queue(), 'c');
        $this->assertSame([2, 'c/2', 'other', State::Ready], [$status->link, $status->jobId, $status->queue, $status->state]);

        $this->work(static fn () => throw new Bury('no'), 'other');
        $status = Chain::status($this->queue(), 'c');
        $this->assertSame([2, State::Buried, 'no'], [$status->link, $status->state, $status->lastError]);

        $this->queue('other')->kick();
        $this->work(null, 'other');
        $status = Chain::status($this->queue(), 'c');
        $this->assertSame([3, State::Ready], [$status->link, $status->state]);
        $this->work();
        $this->assertNull(Chain::status($this->queue(), 'c'));
    }

    public function testCheckLeavesAChainAlone(): void
    {
        $this->chain('c', [], ['delay' => '1h'], [])->onFailure(['payload' => 'failed'])->push($this->queue());
        $this->assertSame(State::Ready, Chain::check($this->queue(), 'c')->state);
        $this->work();
        $this->assertSame([2, State::Delayed], [Chain::check($this->queue(), 'c')->link, Chain::check($this->queue(), 'c')->state]);
        $this->travel('1h');
        $this->assertSame(['c/2', 'c/3'], $this->work());
        $this->assertNull(Chain::check($this->queue(), 'c'));
    }

    public function testCheckTellsOfALinkThatExpired(): void
    {
        $this->chain('c', [], ['expires' => '1m'], [])->onFailure(['payload' => 'failed', 'queue' => 'failures'])->push($this->queue());
        $this->queue()->drain(new Follow(static fn () => null), 1);
        $this->travel('2m');
        $this->assertSame([], $this->work(), 'Redis buries it, and tells nobody');
        $this->assertSame(0, $this->queue('failures')->count());

        foreach ([1, 2] as $time) {
            $status = Chain::check($this->queue(), 'c');
            $this->assertSame([2, State::Buried, 'expired'], [$status->link, $status->state, $status->lastError], "time $time");
        }
        $this->assertSame('expired', Chain::failure($this->queue('failures')->reserve())['error']);
        $this->assertSame(1, $this->queue('failures')->count());
        $this->queue()->kick();
        $this->assertSame(['c/2', 'c/3'], $this->work());
    }

    /** @dataProvider goneLinks */
    #[\PHPUnit\Framework\Attributes\DataProvider('goneLinks')]
    public function testCheckEndsAChainWhoseLinkIsGone(int $gone): void
    {
        $links = array_fill(0, 3, []);
        $links[$gone - 1] += ['delay' => '1h'];
        $this->chain('c', ...$links)->onFailure(['payload' => 'failed', 'queue' => 'failures'])->push($this->queue());
        $this->work();
        $this->assertSame(1, $this->queue()->cancel($gone === 1 ? 'c' : "c/$gone"));
        $this->assertNull(Chain::status($this->queue(), 'c')->state);

        $status = Chain::check($this->queue(), 'c');
        $this->assertSame([$gone, null], [$status->link, $status->state]);
        $failure = Chain::failure($this->queue('failures')->reserve());
        $this->assertSame([$gone, 'links'], [$failure['link'], $failure['queue']]);
        $this->assertStringContainsString('is gone', $failure['error']);
        $this->assertNull(Chain::check($this->queue(), 'c'));
        $this->assertNoChains();
    }

    /** @return list<array{int}> */
    public static function goneLinks(): array
    {
        return [[1], [2], [3]];
    }

    public function testAFailureWhoseIdIsThatOfAnotherJobIsToldWhenItIsFree(): void
    {
        $this->chain('c', [])->onFailure(['payload' => 'failed'])->push($this->queue());
        $this->queue()->reserve()->bury('no');
        $this->queue()->push('other', '1h', 'c/failed');
        try {
            Chain::check($this->queue(), 'c');
            $this->fail('another job has the id');
        } catch (DuplicateJobException $error) {
            $this->assertSame("job 'c/failed' in queue 'links' is another one than that of onFailure()", $error->getMessage());
        }
        $this->queue()->cancel('c/failed');
        Chain::check($this->queue(), 'c');
        $this->assertSame('no', Chain::failure($this->queue()->reserve())['error']);
        $this->assertSame([], $this->queue()->receipts());
    }

    public function testAChainIsListedAlsoWhileOthersEnd(): void
    {
        foreach (range(100, 549) as $number) {
            $this->chain("c$number", [])->push($this->queue());
        }
        $pages = 0;
        $hook = function (bool $isOver, string $method) use (&$pages): void {
            if ($isOver && $method === 'list' && ++$pages === 2) {
                array_map(fn (int $number): int => Chain::cancel($this->queue(), "c$number"), range(100, 199));
            }
        };
        $ids = [...Chain::ids(HookedQueue::of($this->queue(), $hook))];
        $this->assertSame([], array_diff(array_map(static fn (int $number): string => "c$number", range(200, 549)), $ids));
        $this->assertSame(array_unique($ids), $ids);
        $this->assertGreaterThan(2, $pages);
    }

    public function testCheckCompletesAPushThatWasCutOff(): void
    {
        $this->chain('c', [], [])->push($this->queue());
        $to = $this->queue('chains')->peek('c/2')->headers['dq-chain-to'];
        $this->queue()->cancel('c');
        $this->queue('chains')->push(1, id: 'c/1', delay: '3650d', headers: ['dq-chain' => $this->mark('c', '1/2'), 'dq-chain-to' => $to]);
        $this->assertNull(Chain::status($this->queue(), 'c')->state);

        $this->assertSame(State::Ready, Chain::check($this->queue(), 'c')->state);
        $this->assertSame(['c', 'c/2'], $this->work());
        $this->assertNoChains();
    }

    public function testCheckGoesOnWhereTheNextLinkIsInItsQueueAlready(): void
    {
        $this->chain('c', [], [], [])->push($this->queue());
        $this->queue()->cancel('c');
        $this->queue()->push(2, id: 'c/2', headers: ['dq-chain' => $this->mark('c', '2/3')]);

        $this->assertSame([2, State::Ready], [Chain::check($this->queue(), 'c')->link, Chain::check($this->queue(), 'c')->state]);
        $this->assertSame(['c/2', 'c/3'], $this->work());
        $this->assertNoChains();
    }

    public function testALongChainIsWatchedAndCancelled(): void
    {
        $this->chain('c', ...array_fill(0, 199, []))->push($this->queue());
        $this->queue()->drain(new Follow(static fn () => null), 77);

        $this->assertSame([78, State::Ready], [Chain::check($this->queue(), 'c')->link, Chain::status($this->queue(), 'c')->state]);
        $this->assertSame(122, Chain::cancel($this->queue(), 'c'));
        $this->assertNoChains();
        $this->assertSame(0, $this->queue()->count());
    }

    public function testAnIdThatNoChainCanHaveIsRefused(): void
    {
        $length = 'be between 1 and 193 bytes long';
        foreach (['' => $length, str_repeat('x', 194) => $length, "a\nb" => 'have no control characters'] as $id => $must) {
            foreach (['status', 'check', 'cancel'] as $method) {
                try {
                    Chain::$method($this->queue(), $id);
                    $this->fail("$method() accepts it");
                } catch (ValueError $error) {
                    $this->assertSame(Chain::class . "::$method(): Argument #2 (\$id) must $must", $error->getMessage());
                }
            }
        }
    }
}
