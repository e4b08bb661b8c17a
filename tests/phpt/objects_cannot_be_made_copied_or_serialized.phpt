--TEST--
Job and the value objects cannot be constructed; nothing can be cloned, serialized or given properties
--INI--
delayqueue.testing=1
--FILE--
<?php
require __DIR__ . '/helpers.inc';
foreach (['Job', 'JobInfo', 'PushOnce', 'PreparedJob', 'Stats', 'GroupStats', 'Backoff', 'Testing'] as $name) {
    $class = "DelayQueue\\$name";
    caught(fn() => new $class);
    caught(fn() => new $class(1, 2));
    caught(fn() => (new ReflectionClass($class))->newInstanceWithoutConstructor());
    caught(fn() => unserialize('O:' . strlen($class) . ":\"$class\":0:{}"));
}
$queue = queue();
$id = $queue->push(['a' => 1]);
$info = $queue->peek($id);
$job = $queue->reserve();
$numbers = [$queue->stats(), DelayQueue\Testing::groupStats()];
foreach ([$queue, $job, $info, $queue->pushOnce([]), $queue->prepare(1), ...$numbers, DelayQueue\Backoff::fixed(1)] as $object) {
    caught(fn() => clone $object);
    caught(fn() => serialize($object));
    caught(function () use ($object) { $object->dynamic = 1; });
}
foreach (['id', 'payload', 'token'] as $property) {
    caught(function () use ($job, $property) { $job->$property = 'x'; });
    caught(function () use ($job, $property) { unset($job->$property); });
}
ob_start(fn(string $text): string => str_replace('indirectly modify', 'modify', $text)); // PHP 8.4 says how
caught(function () use ($job) { $job->payload['a'] = 2; });
caught(function () use ($job) { $reference = &$job->body; });
ob_end_flush();
caught(fn() => $queue->__construct('again'));
var_dump($job->payload, count($queue));
$job->ack();
?>
--EXPECT--
Error: Cannot directly construct DelayQueue\Job
Error: Cannot directly construct DelayQueue\Job
ReflectionException: Class DelayQueue\Job is an internal class marked as final that cannot be instantiated without invoking its constructor
Exception: Unserialization of 'DelayQueue\Job' is not allowed
Error: Cannot directly construct DelayQueue\JobInfo
Error: Cannot directly construct DelayQueue\JobInfo
ReflectionException: Class DelayQueue\JobInfo is an internal class marked as final that cannot be instantiated without invoking its constructor
Exception: Unserialization of 'DelayQueue\JobInfo' is not allowed
Error: Cannot directly construct DelayQueue\PushOnce
Error: Cannot directly construct DelayQueue\PushOnce
ReflectionException: Class DelayQueue\PushOnce is an internal class marked as final that cannot be instantiated without invoking its constructor
Exception: Unserialization of 'DelayQueue\PushOnce' is not allowed
Error: Cannot directly construct DelayQueue\PreparedJob
Error: Cannot directly construct DelayQueue\PreparedJob
ReflectionException: Class DelayQueue\PreparedJob is an internal class marked as final that cannot be instantiated without invoking its constructor
Exception: Unserialization of 'DelayQueue\PreparedJob' is not allowed
Error: Cannot directly construct DelayQueue\Stats
Error: Cannot directly construct DelayQueue\Stats
ReflectionException: Class DelayQueue\Stats is an internal class marked as final that cannot be instantiated without invoking its constructor
Exception: Unserialization of 'DelayQueue\Stats' is not allowed
Error: Cannot directly construct DelayQueue\GroupStats
Error: Cannot directly construct DelayQueue\GroupStats
ReflectionException: Class DelayQueue\GroupStats is an internal class marked as final that cannot be instantiated without invoking its constructor
Exception: Unserialization of 'DelayQueue\GroupStats' is not allowed
Error: Cannot directly construct DelayQueue\Backoff
Error: Cannot directly construct DelayQueue\Backoff
ReflectionException: Class DelayQueue\Backoff is an internal class marked as final that cannot be instantiated without invoking its constructor
Exception: Unserialization of 'DelayQueue\Backoff' is not allowed
Error: Cannot directly construct DelayQueue\Testing
Error: Cannot directly construct DelayQueue\Testing
ReflectionException: Class DelayQueue\Testing is an internal class marked as final that cannot be instantiated without invoking its constructor
Exception: Unserialization of 'DelayQueue\Testing' is not allowed
Error: Trying to clone an uncloneable object of class DelayQueue
Exception: Serialization of 'DelayQueue' is not allowed
Error: Cannot create dynamic property DelayQueue::$dynamic
Error: Trying to clone an uncloneable object of class DelayQueue\Job
Exception: Serialization of 'DelayQueue\Job' is not allowed
Error: Cannot create dynamic property DelayQueue\Job::$dynamic
Error: Trying to clone an uncloneable object of class DelayQueue\JobInfo
Exception: Serialization of 'DelayQueue\JobInfo' is not allowed
Error: Cannot create dynamic property DelayQueue\JobInfo::$dynamic
Error: Trying to clone an uncloneable object of class DelayQueue\PushOnce
Exception: Serialization of 'DelayQueue\PushOnce' is not allowed
Error: Cannot create dynamic property DelayQueue\PushOnce::$dynamic
Error: Trying to clone an uncloneable object of class DelayQueue\PreparedJob
Exception: Serialization of 'DelayQueue\PreparedJob' is not allowed
Error: Cannot create dynamic property DelayQueue\PreparedJob::$dynamic
Error: Trying to clone an uncloneable object of class DelayQueue\Stats
Exception: Serialization of 'DelayQueue\Stats' is not allowed
Error: Cannot create dynamic property DelayQueue\Stats::$dynamic
Error: Trying to clone an uncloneable object of class DelayQueue\GroupStats
Exception: Serialization of 'DelayQueue\GroupStats' is not allowed
Error: Cannot create dynamic property DelayQueue\GroupStats::$dynamic
Error: Trying to clone an uncloneable object of class DelayQueue\Backoff
Exception: Serialization of 'DelayQueue\Backoff' is not allowed
Error: Cannot create dynamic property DelayQueue\Backoff::$dynamic
Error: Cannot modify readonly property DelayQueue\Job::$id
Error: Cannot unset readonly property DelayQueue\Job::$id
Error: Cannot modify readonly property DelayQueue\Job::$payload
Error: Cannot unset readonly property DelayQueue\Job::$payload
Error: Cannot modify readonly property DelayQueue\Job::$token
Error: Cannot unset readonly property DelayQueue\Job::$token
Error: Cannot modify readonly property DelayQueue\Job::$payload
Error: Cannot modify readonly property DelayQueue\Job::$body
Error: Cannot call the constructor of DelayQueue twice
array(1) {
  ["a"]=>
  int(1)
}
int(1)
