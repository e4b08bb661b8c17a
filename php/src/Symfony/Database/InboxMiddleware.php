<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Database;

use DelayQueue\Database\Inbox;
use DelayQueue\Symfony\Stamp\HeldStamp;
use Doctrine\DBAL\Connection;
use Doctrine\Persistence\ConnectionRegistry;
use Doctrine\Persistence\ManagerRegistry;
use Doctrine\Persistence\ObjectManager;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Exception\HandlerFailedException;
use Symfony\Component\Messenger\Middleware\MiddlewareInterface;
use Symfony\Component\Messenger\Middleware\StackInterface;
use Symfony\Component\Messenger\Stamp\AckStamp;
use Symfony\Component\Messenger\Stamp\HandledStamp;
use Throwable;

/**
 * The handlers of a message from a delayqueue transport run in one transaction, which also notes that the message is done: what they do in this database
 * takes effect once, also when the message is delivered again. Entity managers of the connection are flushed in it.
 *
 * Messages of other transports pass.
 */
final class InboxMiddleware implements MiddlewareInterface
{
    private ?DbalConnection $database = null;

    private ?Inbox $inbox = null;

    /**
     * @param ConnectionRegistry|Connection $doctrine the service "doctrine", or the connection
     * @param string|null $connection its name in the registry; null: the default one
     */
    public function __construct(private readonly ConnectionRegistry|Connection $doctrine, private readonly ?string $connection = null)
    {
    }

    public function handle(Envelope $envelope, StackInterface $stack): Envelope
    {
        $held = $envelope->last(HeldStamp::class);
        if ($held === null || $held->isDone()) {
            return $stack->next()->handle($envelope, $stack);
        }
        $work = function () use (&$envelope, $stack): void {
            // Without it a batch handler works each message by itself, and not after the commit.
            $envelope = $stack->next()->handle($envelope->withoutAll(AckStamp::class), $stack);
            foreach ($this->managers() as $manager) {
                $manager->flush();
            }
        };
        try {
            // A message that messenger:failed:retry has only looked at has no lease.
            $held->job === null ? $this->database()->transaction($work) : $this->inbox()->once($held->job, $work);
        } catch (Throwable $error) {
            throw $this->rolledBack($error);
        }

        return $envelope;
    }

    /** Nothing of it may be stored later, and what handlers have done was undone: all of them have to run again. */
    private function rolledBack(Throwable $error): Throwable
    {
        foreach ($this->managers() as $manager) {
            $manager->clear();
        }
        if (!$error instanceof HandlerFailedException) {
            return $error;
        }
        // Messenger before 6.4 has the old name.
        $errors = method_exists($error, 'getWrappedExceptions') ? $error->getWrappedExceptions() : $error->getNestedExceptions();

        return new HandlerFailedException($error->getEnvelope()->withoutAll(HandledStamp::class), $errors);
    }

    /** @return list<ObjectManager> those of this connection */
    private function managers(): array
    {
        $managers = $this->doctrine instanceof ManagerRegistry ? $this->doctrine->getManagers() : [];

        return array_values(array_filter(
            $managers,
            fn (ObjectManager $manager): bool => method_exists($manager, 'getConnection') && $manager->getConnection() === $this->database()->handle(),
        ));
    }

    private function inbox(): Inbox
    {
        return $this->inbox ??= new Inbox($this->database());
    }

    private function database(): DbalConnection
    {
        return $this->database ??= new DbalConnection($this->doctrine instanceof Connection ? $this->doctrine : $this->doctrine->getConnection($this->connection));
    }
}
