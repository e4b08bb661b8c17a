--TEST--
What the handler returns or throws decides what becomes of the job
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\{Bury, Job, Release, State};
$queue = queue();
$handlers = [
    'returns nothing' => function (Job $job) {},
    'returns true' => fn () => true,
    'returns null' => fn () => null,
    'returns 0' => fn () => 0,
    'returns false' => fn () => false,
    'throws' => fn () => throw new LogicException('wrong'),
    'throws an Error' => fn () => [] > null ? intdiv(1, 0) : intdiv(1, 0),
    'throws without words' => fn () => throw new RuntimeException(),
    'Release' => fn () => throw new Release('1h', 'later'),
    'Release at once' => fn () => throw new Release(),
    'Bury' => fn () => throw new Bury('bad address'),
    'acknowledges' => fn (Job $job) => $job->ack(),
    'releases and returns false' => function (Job $job) { $job->release('1h'); return false; },
    'buries and throws' => function (Job $job) { $job->bury('mine'); throw new LogicException('ignored'); },
    'is cancelled' => fn (Job $job, DelayQueue $queue) => $queue->cancel($job->id),
];
foreach ($handlers as $name => $handler) {
    $queue->push($name, id: 'job', maxAttempts: 5);
    $queue->consume($handler, maxJobs: 1);
    $job = $queue->peek('job');
    echo str_pad($name, 28), $job === null ? 'gone' : "{$job->state->value}, attempt $job->attempts, " . json_encode($job->lastError === null ? null : strtok($job->lastError, "\n")), "\n";
    $queue->cancel('job');
}
$queue->push(1, id: 'job', maxAttempts: 1);
$queue->consume(fn () => false, maxJobs: 1);
echo 'the last attempt            ', $queue->peek('job')->state->value, "\n";
?>
--EXPECT--
returns nothing             gone
returns true                gone
returns null                gone
returns 0                   gone
returns false               delayed, attempt 1, "the handler returned false"
throws                      delayed, attempt 1, "LogicException: wrong"
throws an Error             delayed, attempt 1, "DivisionByZeroError: Division by zero"
throws without words        delayed, attempt 1, "RuntimeException"
Release                     delayed, attempt 1, "later"
Release at once             ready, attempt 1, null
Bury                        buried, attempt 1, "bad address"
acknowledges                gone
releases and returns false  delayed, attempt 1, null
buries and throws           buried, attempt 1, "mine"
is cancelled                gone
the last attempt            buried
