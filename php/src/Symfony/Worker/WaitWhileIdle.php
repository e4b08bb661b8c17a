<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Worker;

use DelayQueue\Symfony\Transport\TransportFactory;
use Psr\Cache\CacheItemPoolInterface;
use Symfony\Component\Console\ConsoleEvents;
use Symfony\Component\Console\Event\ConsoleCommandEvent;
use Symfony\Component\EventDispatcher\EventSubscriberInterface;
use Symfony\Component\Messenger\Event\WorkerRunningEvent;
use Symfony\Component\Messenger\Event\WorkerStartedEvent;
use Symfony\Component\Messenger\Event\WorkerStoppedEvent;

/**
 * Lets an idle worker wait for its next message instead of sleeping: on all of its delayqueue transports at once, and to the millisecond. It is on
 * the list of workers(), and obeys the orders of operators.
 *
 * Receivers of another kind are asked as often as ever. In such a worker a message that comes within the first second after
 * another one can be up to --sleep late.
 */
final class WaitWhileIdle implements EventSubscriberInterface
{
    /** Seconds of a wait that nothing ends when messenger:stop-workers is called. */
    private const SOON = 2.0;

    private ?SharedWait $wait = null;

    private bool $alone = true;

    private ?Signals $signals = null;

    /** Of a worker that is to end by itself. */
    private float $limit = INF;

    /** The time that the worker sleeps when it finds nothing. */
    private float $sleep = 1.0;

    /**
     * @param float $seconds how long a worker waits before it has a look at its limits. A message, and a signal, end
     *     the wait at once, and messenger:stop-workers within a second or two; each new wait costs Redis some thirty
     *     commands
     * @param CacheItemPoolInterface|null $restartSignal the service cache.messenger.restart_workers_signal. Without it,
     *     or without pcntl, a wait has two seconds at most
     */
    public function __construct(
        private readonly TransportFactory $factory,
        private readonly float $seconds = 45.0,
        private readonly ?CacheItemPoolInterface $restartSignal = null,
    ) {
    }

    public static function getSubscribedEvents(): array
    {
        $events = [
            // After Messenger's own listeners, which set up signal handlers.
            WorkerStartedEvent::class => ['onStarted', -1024],
            WorkerRunningEvent::class => ['onRunning', 1024],
            WorkerStoppedEvent::class => ['onStopped', 1024],
        ];

        return class_exists(ConsoleEvents::class) ? $events + [ConsoleEvents::COMMAND => 'onCommand'] : $events;
    }

    public function onCommand(ConsoleCommandEvent $event): void
    {
        $input = $event->getInput();
        if ($event->getCommand()?->getName() !== 'messenger:consume') {
            return;
        }
        $this->sleep = (float) ($input->hasOption('sleep') ? $input->getOption('sleep') : 1.0);
        $this->limit = (float) ($input->hasOption('time-limit') ? $input->getOption('time-limit') ?? INF : INF);
    }

    public function onStarted(WorkerStartedEvent $event): void
    {
        $metadata = $event->getWorker()->getMetadata();
        $names = $metadata->getTransportNames();
        $transports = array_values(array_filter(array_map(fn ($name) => $this->factory->made((string) $name), $names)));
        if ($transports === []) {
            return;
        }
        $receivers = array_map(static fn ($transport) => $transport->receiver(), $transports);
        $this->alone = count($transports) === count($names);
        $restart = new RestartSignal($this->restartSignal);
        $this->wait = new SharedWait(
            $receivers,
            array_values($metadata->getQueueNames() ?? []),
            $this->patience($restart),
            $this->alone,
            $this->sleep,
            microtime(true) + $this->limit,
            $restart,
        );
        foreach ($receivers as $receiver) {
            $receiver->waitWith($this->wait);
        }
        $this->signals = Signals::endWait($this->wait);
        $this->wait->enlist();
    }

    public function onRunning(WorkerRunningEvent $event): void
    {
        if ($this->wait?->isToEnd()) {
            $event->getWorker()->stop();
        }
        if ($this->wait !== null && !$this->alone) {
            $this->wait->waits = $event->isWorkerIdle();
        }
    }

    public function onStopped(): void
    {
        $this->signals?->restore();
        $this->wait?->end();
        $this->wait = $this->signals = null;
    }

    /** Never less than the worker would sleep, or it would sleep the rest. Receivers of another kind are asked as often as ever. */
    private function patience(RestartSignal $restart): float
    {
        $seconds = $restart->endsWaits() ? $this->seconds : min($this->seconds, self::SOON);

        return $this->alone ? max($seconds, $this->sleep) : max(0.01, $this->sleep);
    }
}
