<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Worker;

use DelayQueue\Symfony\Stamp\HeldStamp;
use Symfony\Component\EventDispatcher\EventSubscriberInterface;
use Symfony\Component\Messenger\Event\WorkerMessageFailedEvent;
use Symfony\Component\Messenger\Exception\HandlerFailedException;

/** Notes why a message failed, for its job in Redis: a transport hears of a retry and of the end, and not of the exception. */
final class NoteFailures implements EventSubscriberInterface
{
    public static function getSubscribedEvents(): array
    {
        // Before Messenger's own listeners, which send the message to its retry.
        return [WorkerMessageFailedEvent::class => ['onFailed', 1024]];
    }

    public function onFailed(WorkerMessageFailedEvent $event): void
    {
        $error = $event->getThrowable();
        $event->getEnvelope()->last(HeldStamp::class)?->failed($error instanceof HandlerFailedException ? $error->getPrevious() ?? $error : $error);
    }
}
