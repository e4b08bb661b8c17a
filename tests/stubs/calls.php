<?php

/*
 * Never run: a static analyser reads it beside the stub. No word against the first half; in the second half each line has the mistake that the
 * comment before it names, and an analyser that does not see it fails the check.
 */

declare(strict_types=1);

use DelayQueue\Backoff;
use DelayQueue\Event;
use DelayQueue\GroupLimits;
use DelayQueue\Job;
use DelayQueue\NewJob;
use DelayQueue\OnDuplicate;
use DelayQueue\QueueInterface;
use DelayQueue\RateLimited;
use DelayQueue\State;

$queue = new DelayQueue('orders', options: ['prefix' => 'shop', 'ttr' => 30, 'durability' => 'disk']);
$id = $queue->push(
    ['order' => 4711],
    delay: '15m',
    id: 'order-4711',
    maxAttempts: 5,
    backoff: Backoff::stages('15s 3m 10m'),
    onDuplicate: OnDuplicate::Keep,
    headers: ['tenant' => 'acme'],
);
echo strlen($id);
echo count($queue->pushMany([['payload' => 1, 'delay' => new DateTimeImmutable('tomorrow')], ['payload' => 2, 'id' => 'two']]));
$job = $queue->reserve(timeout: null);
if ($job !== null) {
    echo $job->id, $job->attempts + 1, $job->headers['tenant'] ?? '', $job->timeLeft();
    $job->release(new DateInterval('PT15M'), countAttempt: false);
}
echo $queue->consume(static function (Job $job, DelayQueue $queue): void {
    $queue->push($job->payload, '1h');
}, maxJobs: 10, timeout: '5m')->name;
$queue->on(Event::Failed, static function (Event $event, ?Job $job, ?Throwable $error, ?float $seconds): void {
    echo $event->value, $job?->id, $error?->getMessage(), $seconds;
})->on(Event::Idle, static fn () => null);
echo $queue->peek('order-4711')?->state === State::Delayed ? 'waits' : '', $queue->stats()->lateness()['p99'];
foreach ($queue->sibling('mails', ['ttr' => '2m'])->list(State::Delayed, limit: 10, after: $queue->peek('order-4711')) as $info) {
    echo $info->id, $queue->now() - $info->dueAt, $queue->countDue(new DateTimeImmutable(), new DateTime('+1 hour'))[0] + 1;
}
foreach ($queue->stats()->history() as $then) {
    echo $then['at'] + 0.5, $then['pushed'] - $then['acked'];
}
echo $queue->tryPush(new NewJob(1, id: 'order-4711', onDuplicate: OnDuplicate::Replace, unique: '10m', maxWait: '1h')) ?? 'taken';
$prepared = $queue->prepare(['payload' => ['order' => 4711], 'delay' => '15m']);
$once = $queue->pushOnce([
    ['receipt' => 'r1', 'payload' => $prepared->body, 'id' => $prepared->id, 'extras' => $prepared->extras],
    ['receipt' => 'r2', 'payload' => 2, 'createdAt' => 1.5, 'past' => ['attempts' => 3, 'lastError' => null], 'state' => State::Buried],
    ['receipt' => 'r3'],
]);
echo $once->added + $queue->forgetReceipts(...$queue->receipts('1d', 'r')), $queue->takenIds()[0]['until'] ?? 0.0;
$queue->limitGroups('tenant-42', new GroupLimits(concurrency: 2, rate: '100/1m', burst: 10));
$queue->limitGroups(limits: new GroupLimits(ordered: true));
$queue->limitQueue(rate: '5/1s');
echo strlen($queue->push(1, group: 'tenant-42')), $queue->limits()['groups']['tenant-42']->weight + $queue->groupStats('tenant-42')->waiting;
$queue->rateLimit('30s', group: 'tenant-42');
foreach ($queue->groups(limit: 10) as $group) {
    echo strlen($group) + $queue->cancelGroup($group, reserved: true), count($queue->list(State::Ready, group: $group));
}
$queue->drain(static fn (Job $job): never => throw new RateLimited('30s', $job->group, 'too many requests'));
foreach ($queue->workers(host: 'web1') as $worker) {
    echo $worker['host'], $worker['pid'] + 1, $worker['job']['id'] ?? '';
}

function handle(QueueInterface $queue): void
{
    foreach ($queue->reserveMany(10, timeout: 5) as $job) {
        echo $job->id, $job->token + 1;
        $job->attempts > 3 ? $job->ack(failed: true) : $job->release('1h', error: new RuntimeException('no bank'));
    }
    $queue->reserve()?->bury('no bank', failed: true);
    $queue->reschedule('order-4711', '1h');
}

// @mago-expect analysis:non-existent-method
$queue->enqueue(1);
// @mago-expect analysis:too-few-arguments
$queue->push();
// @mago-expect analysis:invalid-named-argument
$queue->push(1, delayed: 5);
// @mago-expect analysis:invalid-argument
$queue->push(1, priority: 'high');
// @mago-expect analysis:possibly-invalid-argument
$queue->push(1, headers: ['tenant' => 5]);
// @mago-expect analysis:possible-method-access-on-null
$queue->reserve()->ack();
// @mago-expect analysis:non-existent-property
echo $queue->stats()->late;
// @mago-expect analysis:invalid-argument
$queue->list('delayed');
// @mago-expect analysis:invalid-argument
$queue->countDue('+1 hour');
// @mago-expect analysis:possibly-invalid-argument
handle(new ArrayObject());
