<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony\App;

use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Middleware\MiddlewareInterface;
use Symfony\Component\Messenger\Middleware\StackInterface;
use Symfony\Component\Messenger\Stamp\ReceivedStamp;

/** Where a test asks for it, the worker dies when a message is handled, and before it is acknowledged. */
final class Accident implements MiddlewareInterface
{
    public function __construct(private readonly string $folder)
    {
    }

    public function handle(Envelope $envelope, StackInterface $stack): Envelope
    {
        $envelope = $stack->next()->handle($envelope, $stack);
        if ($envelope->last(ReceivedStamp::class) !== null && @unlink("$this->folder/accident")) {
            posix_kill(getmypid(), SIGKILL);
        }

        return $envelope;
    }
}
