<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Worker;

use DelayQueue\RateLimited;
use DelayQueue\Symfony\Stamp\HeldStamp;
use Symfony\Component\EventDispatcher\EventSubscriberInterface;
use Symfony\Component\Messenger\Event\WorkerMessageFailedEvent;
use Symfony\Component\Messenger\Exception\HandlerFailedException;
use Throwable;

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
        $held = $event->getEnvelope()->last(HeldStamp::class);
        $held?->failed(self::why($event->getThrowable()));
        if ($held?->limit() !== null) {
            // Not to the failure transport, also where it has no retry left.
            $event->setForRetry();
        }
    }

    /** A handler that has failed goes before one that was only held back. */
    private static function why(Throwable $error): Throwable
    {
        if (!$error instanceof HandlerFailedException) {
            return $error;
        }
        $all = method_exists($error, 'getWrappedExceptions') ? $error->getWrappedExceptions() : $error->getNestedExceptions();
        $failures = array_filter($all, static fn (Throwable $one): bool => !$one instanceof RateLimited);

        return reset($failures) ?: reset($all) ?: $error;
    }
}
