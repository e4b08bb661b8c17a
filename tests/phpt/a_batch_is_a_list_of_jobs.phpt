--TEST--
consume(batch: …): the handler gets a list of jobs of one queue; what it has not settled ends as its run does
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\Event;
use DelayQueue\GroupLimits;
use DelayQueue\State;
$queue = queue(['backoff' => DelayQueue\Backoff::fixed('1h')]);
foreach ([Event::Processing, Event::Succeeded, Event::Failed, Event::Released, Event::Buried, Event::TimedOut] as $event) {
    $queue->on($event, function ($event, $job) use (&$events): void { $events[] = "$event->name $job->id"; });
}
$push = fn(string ...$ids) => $queue->pushMany(array_map(fn($id) => ['payload' => $id, 'id' => $id], $ids));
$run = function (callable $handler, int $batch = 10, mixed ...$options) use ($queue, &$events): void {
    $events = $ids = [];
    $stop = $queue->consume(function (array $jobs, $given) use ($handler, $queue, &$ids): mixed {
        $ids[] = implode(',', array_map(fn($job) => $job->id, $jobs)) . ($given === $queue && array_is_list($jobs) ? '' : '?');
        return $handler($jobs);
    }, ...$options + ['stopWhenEmpty' => true, 'batch' => $batch]);
    echo $stop->name, ': ', implode(' | ', $ids), '; ', implode(', ', array_filter($events, fn($event) => !str_starts_with($event, 'Processing'))), '; ',
        json_encode(array_map(fn($state) => $queue->count($state), State::cases())), ' ', count(preg_grep('/^Processing/', $events)), "\n";
    $queue->purge();
};
$push('a', 'b', 'c');
$run(fn() => false);
$push('a', 'b', 'c', 'd', 'e');
$run(fn() => null, 2);
$push('a', 'b', 'c', 'd', 'e');
$run(fn() => null, 2, maxJobs: 3);
$push('a', 'b', 'c', 'd');
$run(function (array $jobs): void {
    $jobs[0]->fail();
    $jobs[1]->bury();
    $jobs[2]->release('1h');
});
$push('a', 'b');
$run(fn() => throw new DelayQueue\Release('1h'));
$push('a', 'b');
$run(fn() => throw new DelayQueue\Bury());
$push('a', 'b', 'c');
$run(function (array $jobs): never {
    $jobs[1]->ack();
    throw new LogicException('no');
});
$push('a', 'b');
$run(fn() => throw new DelayQueue\RateLimited('1h'));
$queue->resume();
$push('a', 'b');
$run(function () { for ($end = microtime(true) + 20; microtime(true) < $end;); }, timeout: 0.05);

echo "-- alone\n";
$queue->pushMany([['payload' => 1, 'id' => 'a'], ['payload' => 1, 'id' => 'last', 'maxAttempts' => 1], ['payload' => 1, 'id' => 'b'], ['payload' => 1, 'id' => 'c']]);
$run(fn() => null);
$queue->limitGroups('g', new GroupLimits(ordered: true));
$queue->pushMany([['payload' => 1, 'id' => 'a', 'group' => 'g'], ['payload' => 1, 'id' => 'b', 'group' => 'g'], ['payload' => 1, 'id' => 'c']]);
$run(fn() => null);
$queue->limitGroups('g');
queue(['format' => 'raw'])->pushMany([['payload' => '1', 'id' => 'a'], ['payload' => '{', 'id' => 'wrong'], ['payload' => '1', 'id' => 'b']]);
$run(fn() => null);

echo "-- more that come in time\n";
$queue->push(1, id: 'a');
$queue->push(1, '100ms', id: 'b');
$queue->push(1, '1h', id: 'c');
$run(fn() => null, within: '3s', batch: 2);
$queue->push(1, id: 'a', ttr: 1.2);
$began = microtime(true);
$run(fn() => null, within: '1m');
var_dump(microtime(true) - $began < 50);
$queue->push(1, id: 'a');
pcntl_async_signals(true); // stops while the batch waits
pcntl_signal(SIGALRM, function () use ($queue) { $queue->stop(); });
pcntl_alarm(1);
$run(fn() => null, within: '1m');

echo "-- a batch of two queues\n";
$other = $queue->sibling($queue->name() . '-other');
$queue->watch($queue->name(), $other->name());
$push('a', 'b');
$other->push(1, id: 'x');
$run(fn() => null);

echo "-- mistakes\n";
caught(fn() => $queue->consume(fn(DelayQueue\Job $job) => null, batch: 2));
caught(fn() => $queue->consume(fn(array $jobs) => null));
caught(fn() => $queue->consume(fn($jobs) => null, batch: 0));
caught(fn() => $queue->consume(fn($jobs) => null, batch: 501));
caught(fn() => $queue->consume(fn($jobs) => null, batch: 5, throwOnCancel: true));
caught(fn() => $queue->consume(fn($jobs) => null, batch: 5, within: -1));
?>
--EXPECT--
Empty: a,b,c; Succeeded a, Succeeded b, Succeeded c; [0,0,0,0] 3
Empty: a,b | c,d | e; Succeeded a, Succeeded b, Succeeded c, Succeeded d, Succeeded e; [0,0,0,0] 5
MaxJobs: a,b | c; Succeeded a, Succeeded b, Succeeded c; [0,2,0,0] 3
Empty: a,b,c,d; Succeeded d; [2,0,0,1] 4
Empty: a,b; Released a, Released b; [2,0,0,0] 2
Empty: a,b; Buried a, Buried b; [0,0,0,2] 2
Empty: a,b,c; Failed a, Failed c; [2,0,0,0] 3
Empty: a,b; Released a, Released b; [0,2,0,0] 2
Empty: a,b; TimedOut a, Failed a, TimedOut b, Failed b; [2,0,0,0] 2
-- alone
Empty: a | last | b,c; Succeeded a, Succeeded last, Succeeded b, Succeeded c; [0,0,0,0] 4
Empty: a,c | b; Succeeded a, Succeeded c, Succeeded b; [0,0,0,0] 3
Empty: a,b; Buried wrong, Succeeded a, Succeeded b; [0,0,0,1] 2
-- more that come in time
Empty: a,b; Succeeded a, Succeeded b; [1,0,0,0] 2
Empty: a; Succeeded a; [0,0,0,0] 1
bool(true)
Stopped: ; ; [0,1,0,0] 0
-- a batch of two queues
Empty: a,b | x; Succeeded a, Succeeded b, Succeeded x; [0,0,0,0] 3
-- mistakes
TypeError: DelayQueue::consume(): Argument #1 ($handler) must take a list of jobs, and a queue: the parameter DelayQueue\Job $job of it gets an array
TypeError: DelayQueue::consume(): Argument #1 ($handler) must take a job, and a queue: the parameter array $jobs of it gets a DelayQueue\JobInterface
DelayQueue\InvalidArgument: DelayQueue::consume(): Argument #13 ($batch) must be between 1 and 500
DelayQueue\InvalidArgument: DelayQueue::consume(): Argument #13 ($batch) must be between 1 and 500
DelayQueue\InvalidArgument: DelayQueue::consume(): Argument #11 ($throwOnCancel) must be false when argument #13 ($batch) is given
DelayQueue\InvalidArgument: DelayQueue::consume(): Argument #14 ($within) must be greater than or equal to 0
