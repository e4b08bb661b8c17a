--TEST--
memory://: the queue runs in the process with the rules of Redis, and no wait hangs
--INI--
delayqueue.testing=1
--FILE--
<?php
use DelayQueue\GroupLimits;
use DelayQueue\State;
use DelayQueue\Testing;

function told(callable $act): void
{
    try {
        var_dump($act());
    } catch (Throwable $e) {
        echo $e::class, ': ', preg_replace('/[0-9a-f-]{36}/', 'ID', $e->getMessage()), "\n";
    }
}

$orders = new DelayQueue('orders', 'memory://shop');
echo $orders->dsn(), "\n";
$orders->push(['order' => 4711], '15m', 'a');
$began = microtime(true);
told(fn () => $orders->reserve());
told(fn () => $orders->reserve(60));
told(fn () => $orders->wait());
Testing::travel('15m');
told(fn () => (new DelayQueue('orders', 'memory://shop'))->reserve()->payload);
told(fn () => (new DelayQueue('orders', 'memory://'))->count());

echo "-- a loop runs what is due within a second, and ends\n";
$orders->push('now');
$orders->push('soon', 0.3);
$orders->push('later', '1h');
told(fn () => $orders->consume(fn ($job) => print("$job->payload\n")));
told(fn () => $orders->count(State::Delayed));
told(fn () => microtime(true) - $began < 30);

echo "-- groups, partitions\n";
$many = new DelayQueue('many', 'memory://shop', ['partitions' => 3]);
$many->limitGroups(null, new GroupLimits(concurrency: 1));
foreach (range(1, 6) as $n) {
    $many->push($n, group: $n % 2 ? 'odd' : 'even');
}
told(fn () => $many->count());
told(fn () => $many->reserve() !== null && $many->count(State::Reserved) === 1);

echo "-- forgotten\n";
Testing::forgetMemory('shop');
told(fn () => [$orders->count(), $orders->queues()]);

echo "-- full\n";
$full = new DelayQueue('full', 'memory://full?maxmemory=64kb');
told(function () use ($full) {
    while (true) {
        $full->push(str_repeat('x', 1000));
    }
});
told(fn () => $full->consume(fn () => null));

echo "-- wrong\n";
foreach (['memory://a/b', 'memory://?db=1', 'memory://?maxmemory=much'] as $dsn) {
    told(fn () => new DelayQueue('x', $dsn));
}
ini_set('delayqueue.testing', '0');
told(fn () => new DelayQueue('x', 'memory://'));
told(fn () => Testing::forgetMemory());
?>
--EXPECT--
memory://shop
NULL
NULL
bool(false)
array(1) {
  ["order"]=>
  int(4711)
}
int(0)
-- a loop runs what is due within a second, and ends
now
soon
enum(DelayQueue\StopReason::Empty)
int(1)
bool(true)
-- groups, partitions
int(6)
bool(true)
-- forgotten
array(2) {
  [0]=>
  int(0)
  [1]=>
  array(0) {
  }
}
-- full
DelayQueue\QueueFullException: pushing job 'ID' to queue 'full': Redis has no memory left and refused the request (command not allowed when used memory > 'maxmemory'.)
enum(DelayQueue\StopReason::Empty)
-- wrong
ValueError: DelayQueue::__construct(): Argument #2 ($dsn) must be a valid DSN, memory:// is followed by a name of letters, digits, '.', '_' and '-', or by nothing
ValueError: DelayQueue::__construct(): Argument #2 ($dsn) must be a valid DSN, its option 'db' is unknown; there are 'maxmemory'
ValueError: DelayQueue::__construct(): Argument #2 ($dsn) must be a valid DSN, its option 'maxmemory' must be a number of bytes, or such as 64mb
ValueError: DelayQueue::__construct(): Argument #2 ($dsn) must name a Redis: memory:// is for tests, whose jobs end with the process, and needs the ini setting delayqueue.testing=1
Error: DelayQueue\Testing needs the ini setting delayqueue.testing=1; never set it in production
