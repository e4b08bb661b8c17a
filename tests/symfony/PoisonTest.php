<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony;

use DelayQueue\State;
use DelayQueue\Symfony\Stamp\DelayQueueStamp;
use DelayQueue\Tests\Symfony\App\Work;
use Symfony\Component\Messenger\Envelope;

/** A message that ends each worker that handles it. */
final class PoisonTest extends MessengerTestCase
{
    public function testItIsBuriedAndTheMessagesThatWereFetchedWithItAreHandledOnce(): void
    {
        foreach (['poison' => 'kill', 'a' => 'nothing', 'b' => 'nothing', 'c' => 'nothing'] as $name => $do) {
            $this->appTransport('ahead')->send(new Envelope(new Work($name, $do), [new DelayQueueStamp($name)]));
        }
        foreach ([1, 2] as $death) {
            $worker = $this->start('messenger:consume', 'ahead');
            $this->deed('begin', 'poison', $death);
            $this->until(static fn (): bool => !$worker->isRunning(), 'the death of the worker');
            $this->until(fn (): bool => $this->jobs('ahead')->count(State::Reserved) === 0, 'the leases end');
            $attempts = fn (string $name): ?int => $this->jobs('ahead')->peek($name)?->attempts;
            $this->assertSame([$death, 0, 0, 0], array_map($attempts, ['poison', 'a', 'b', 'c']));
        }
        $worker = $this->worker('ahead');
        $this->until(fn (): bool => $this->jobs('ahead')->count() === 1, 'only the poison is left');
        $this->until(fn (): bool => $this->jobs('ahead')->peek('poison')?->state === State::Buried, 'it is buried');
        $this->assertSame(['a' => 1, 'b' => 1, 'c' => 1], $this->ended());
        $worker->signal(SIGTERM);
        $this->assertSame(0, $worker->exitCode());
    }
}
