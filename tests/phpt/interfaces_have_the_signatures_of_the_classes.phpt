--TEST--
The interfaces have the methods of the final classes, with the same signatures
--FILE--
<?php
function signature(ReflectionMethod $method): string
{
    $parameters = array_map(fn(ReflectionParameter $p): string => preg_replace('/^Parameter #\d+ /', '', (string) $p), $method->getParameters());
    return implode(', ', $parameters) . ': ' . ($method->getReturnType() ?? $method->getTentativeReturnType());
}
foreach ([DelayQueue\JobInterface::class => DelayQueue\Job::class, DelayQueue\QueueInterface::class => DelayQueue::class] as $interface => $class) {
    $declared = new ReflectionClass($interface);
    echo "$class is a $interface: ";
    var_dump(is_subclass_of($class, $interface), $declared->isInterface());
    foreach ((new ReflectionClass($class))->getMethods() as $method) {
        if (!$declared->hasMethod($method->name)) {
            echo "only the class has $method->name()\n";
            continue;
        }
        [$wanted, $found] = [signature($method), signature($declared->getMethod($method->name))];
        if (!$declared->getMethod($method->name)->isAbstract()) {
            echo "$method->name() is not abstract\n";
        }
        if ($wanted !== $found) {
            echo "$method->name()\n  class:     $wanted\n  interface: $found\n";
        }
    }
    foreach ($declared->getMethods() as $method) {
        if (!method_exists($class, $method->name)) {
            echo "only the interface has $method->name()\n";
        }
    }
}
var_dump(is_subclass_of(DelayQueue\QueueInterface::class, Countable::class));

// They can be implemented, and a missing method is named by PHP.
final class Decorated implements DelayQueue\JobInterface
{
    public readonly string $id;
    public function __construct(private DelayQueue\JobInterface $inner) { $this->id = $inner->id; }
    public function ack(bool $failed = false): void { echo "ack $this->id\n"; $this->inner->ack($failed); }
    public function release(int|float|string|DateInterval|DateTimeInterface $delay = 0, ?int $priority = null, bool $countAttempt = true, Throwable|string|null $error = null): void {}
    public function fail(Throwable|string|null $reason = null): void {}
    public function bury(Throwable|string|null $reason = null, bool $failed = false): void {}
    public function touch(int|float|string|DateInterval|null $ttr = null): float { return 0.0; }
    public function keepAlive(int|float|string|DateInterval|null $atMost = null): void {}
    public function update(mixed $payload = null, ?array $headers = null, ?array $seal = null): void {}
    public function timeLeft(): float { return 0.0; }
    public function isSettled(): bool { return $this->inner->isSettled(); }
    public function isLost(): bool { return false; }
    public function deadlineSoon(int|float|string|DateInterval $margin = 1): bool { return false; }
}
require __DIR__ . '/helpers.inc';
$queue = queue();
$queue->push('a', id: 'a');
$job = new Decorated($queue->reserve());
caught(fn() => $queue->ackMany($job));
$job->ack();
var_dump($job->isSettled(), count($queue));
?>
--EXPECT--
DelayQueue\Job is a DelayQueue\JobInterface: bool(true)
bool(true)
DelayQueue is a DelayQueue\QueueInterface: bool(true)
bool(true)
only the class has __construct()
reserve()
  class:     [ <optional> int|float|null $timeout = 0 ]: ?DelayQueue\Job
  interface: [ <optional> int|float|null $timeout = 0 ]: ?DelayQueue\JobInterface
reserveJob()
  class:     [ <required> string $id ]: ?DelayQueue\Job
  interface: [ <required> string $id ]: ?DelayQueue\JobInterface
only the class has enlist()
only the class has reseal()
only the class has partitions()
only the class has workers()
only the class has tasks()
only the class has tellWorkers()
only the class has doctor()
only the class has installScripts()
only the class has close()
bool(true)
TypeError: DelayQueue::ackMany(): Argument #1 must be of type DelayQueue\Job, Decorated given
ack a
bool(true)
int(0)
