<?php

declare(strict_types=1);

namespace DelayQueue\Worker;

use Closure;
use DelayQueue\JobInterface;
use DelayQueue\QueueInterface;
use InvalidArgumentException;

/**
 * An object as the handler of DelayQueue::consume() and drain(), told how its jobs ended:
 *
 *     $queue->consume(new HandlerObject(new CloseOrder($shop)));
 *
 * It is called as __invoke(JobInterface $job, QueueInterface $queue) or, without one, handle(JobInterface $job, QueueInterface $queue). Two methods
 * are optional:
 *
 * - afterSucceeded(Job $job): it is done. The loop acknowledges it with its next request to Redis, so a worker that dies
 *   just now, or that has lost the lease, is followed by one more attempt and one more call.
 * - afterFailed(Job $job, Throwable $error): it has failed for good and is buried, because no attempt was left or because
 *   of a thrown Bury. Not called for an attempt that will be repeated.
 *
 * Their exceptions go to PHP's error log; the job stays as it is and the loop goes on. Neither is called for a job
 * that the handler settled itself, nor when nobody is left to call it: a worker that is killed, or ends with exit() or a
 * fatal error. A job whose last attempt ended that way is buried when its lease is over, by Redis alone:
 * $queue->list(State::Buried) has it, with its lastError.
 */
final class HandlerObject
{
    /** @var callable(JobInterface, QueueInterface): mixed */
    private readonly mixed $callable;

    private readonly Caller $caller;

    /** @throws InvalidArgumentException if it has neither __invoke() nor handle(), or this cannot take a job */
    public function __construct(object $handler)
    {
        $this->callable = Caller::callable($handler, 'the handler');
        Signature::ofHandler($this->callable, 'the handler');
        $this->caller = new Caller();
    }

    /**
     * Returns a handler for consume(batch: …). __invoke() or handle() takes a list of jobs; afterSucceeded() and
     * afterFailed() take one job, and are called for each.
     *
     * @return Closure(list<JobInterface>, QueueInterface): mixed
     *
     * @throws InvalidArgumentException as the constructor
     */
    public static function many(object $handler): Closure
    {
        $callable = Caller::callable($handler, 'the handler');
        Signature::ofMany($callable, 'the handler');
        $caller = new Caller();

        return static function (array $jobs, QueueInterface $queue) use ($callable, $caller): mixed {
            return $caller->call($callable, $jobs, $queue, $jobs, $queue);
        };
    }

    public function __invoke(JobInterface $job, QueueInterface $queue): mixed
    {
        return $this->caller->call($this->callable, $job, $queue, $job, $queue);
    }
}
