--TEST--
Job and the value objects cannot be constructed; nothing can be cloned, serialized or given properties
--INI--
delayqueue.testing=1
--FILE--
<?php
require __DIR__ . '/helpers.inc';
/** Prints what a call throws with each of these: a message once, behind the classes that have it, whose name is * there. */
function thrown(callable $call, mixed ...$objects): void
{
    $told = [];
    foreach ($objects as $object) {
        $class = is_string($object) ? "DelayQueue\\$object" : $object::class;
        try {
            $call(is_string($object) ? $class : $object);
            $told['nothing'][] = $class;
        } catch (Throwable $e) {
            $told[get_class($e) . ': ' . str_replace($class, '*', $e->getMessage())][] = substr(strrchr("\\$class", '\\'), 1);
        }
    }
    foreach ($told as $message => $classes) {
        echo implode(', ', $classes), " => $message\n";
    }
}
$classes = ['Job', 'JobInfo', 'PushOnce', 'PreparedJob', 'Stats', 'GroupStats', 'Backoff', 'Testing'];
thrown(fn($class) => new $class, ...$classes);
thrown(fn($class) => new $class(1, 2), ...$classes);
thrown(fn($class) => (new ReflectionClass($class))->newInstanceWithoutConstructor(), ...$classes);
thrown(fn($class) => unserialize('O:' . strlen($class) . ":\"$class\":0:{}"), ...$classes);
$queue = queue();
$id = $queue->push(['a' => 1]);
$info = $queue->peek($id);
$job = $queue->reserve();
$objects = [$queue, $job, $info, $queue->pushOnce([]), $queue->prepare(['payload' => 1]), $queue->settings(), $queue->stats(), DelayQueue\Testing::groupStats(), DelayQueue\Backoff::fixed(1)];
thrown(fn($object) => clone $object, ...$objects);
thrown(fn($object) => serialize($object), ...$objects);
thrown(function ($object) { $object->dynamic = 1; }, ...$objects);
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
Job, JobInfo, PushOnce, PreparedJob, Stats, GroupStats, Backoff, Testing => Error: Cannot directly construct *
Job, JobInfo, PushOnce, PreparedJob, Stats, GroupStats, Backoff, Testing => Error: Cannot directly construct *
Job, JobInfo, PushOnce, PreparedJob, Stats, GroupStats, Backoff, Testing => ReflectionException: Class * is an internal class marked as final that cannot be instantiated without invoking its constructor
Job, JobInfo, PushOnce, PreparedJob, Stats, GroupStats, Backoff, Testing => Exception: Unserialization of '*' is not allowed
DelayQueue, Job, JobInfo, PushOnce, PreparedJob, QueueSettings, Stats, GroupStats, Backoff => Error: Trying to clone an uncloneable object of class *
DelayQueue, Job, JobInfo, PushOnce, PreparedJob, QueueSettings, Stats, GroupStats, Backoff => Exception: Serialization of '*' is not allowed
DelayQueue, Job, JobInfo, PushOnce, PreparedJob, QueueSettings, Stats, GroupStats, Backoff => Error: Cannot create dynamic property *::$dynamic
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
