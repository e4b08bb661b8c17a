<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Worker;

use DelayQueue\Symfony\Transport\TransportFactory;
use Symfony\Component\Console\ConsoleEvents;
use Symfony\Component\Console\Event\ConsoleCommandEvent;
use Symfony\Component\EventDispatcher\EventSubscriberInterface;
use Symfony\Component\Messenger\Event\WorkerRunningEvent;
use Symfony\Component\Messenger\Event\WorkerStartedEvent;
use Symfony\Component\Messenger\Event\WorkerStoppedEvent;

/**
 * Lets an idle worker wait for its next message instead of sleeping: on all of its delayqueue transports at once, and to the millisecond.
 *
 * A worker's receivers of another kind are asked as often as before. In such a worker a message that comes within the first second after
 * another one can be up to --sleep late.
 */
final class WaitWhileIdle implements EventSubscriberInterface
{
    private ?SharedWait $wait = null;

    private bool $alone = true;

    private ?Signals $signals = null;

    /** @param float $seconds how long one round waits: at least what the worker would sleep. messenger:consume says it by --sleep */
    public function __construct(private readonly TransportFactory $factory, private float $seconds = 1.0)
    {
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
        if ($event->getCommand()?->getName() === 'messenger:consume' && $input->hasOption('sleep') && $input->getOption('sleep') > 0) {
            $this->seconds = (float) $input->getOption('sleep');
        }
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
        $this->wait = new SharedWait($receivers, array_values($metadata->getQueueNames() ?? []), $this->seconds, $this->alone);
        foreach ($receivers as $receiver) {
            $receiver->waitWith($this->wait);
        }
        $this->signals = Signals::endWait($this->wait);
    }

    public function onRunning(WorkerRunningEvent $event): void
    {
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
}
