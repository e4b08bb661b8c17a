--TEST--
The stub keeps the contract; only additions and wider parameters are allowed
--FILE--
<?php
require __DIR__ . '/../tools/surface.php';
$contract = surface(__DIR__ . '/../contract/delayqueue.stub.php');
$stub = surface(__DIR__ . '/../../stubs/delayqueue.stub.php');
echo implode("\n", differences($contract, $stub)), "\n";
?>
--EXPECT--
/DelayQueue/interfaces/1 is unexpected
/DelayQueue/constants/VERSION is unexpected
/DelayQueue/methods/__construct/parameters/2/attributes is unexpected
/DelayQueue/methods/ackMany/parameters/0/type: expected "DelayQueue\\Job", got "DelayQueue\\JobInterface"
/DelayQueue/methods/consume/parameters/10 is unexpected
/DelayQueue/methods/consume/parameters/11 is unexpected
/DelayQueue/methods/doctor/parameters/0 is unexpected
/DelayQueue/methods/isPaused/parameters/0 is unexpected
/DelayQueue/methods/list/parameters/3 is unexpected
/DelayQueue/methods/list/parameters/4 is unexpected
/DelayQueue/methods/pause/parameters/1 is unexpected
/DelayQueue/methods/push/parameters/10 is unexpected
/DelayQueue/methods/push/parameters/11 is unexpected
/DelayQueue/methods/push/parameters/12 is unexpected
/DelayQueue/methods/push/parameters/13 is unexpected
/DelayQueue/methods/push/parameters/14 is unexpected
/DelayQueue/methods/push/parameters/15 is unexpected
/DelayQueue/methods/resume/parameters/0 is unexpected
/DelayQueue/methods/cancelGroup is unexpected
/DelayQueue/methods/countDue is unexpected
/DelayQueue/methods/dsn is unexpected
/DelayQueue/methods/forget is unexpected
/DelayQueue/methods/forgetReceipts is unexpected
/DelayQueue/methods/groupStats is unexpected
/DelayQueue/methods/groups is unexpected
/DelayQueue/methods/installScripts is unexpected
/DelayQueue/methods/limitGroups is unexpected
/DelayQueue/methods/limitQueue is unexpected
/DelayQueue/methods/limits is unexpected
/DelayQueue/methods/name is unexpected
/DelayQueue/methods/now is unexpected
/DelayQueue/methods/partitions is unexpected
/DelayQueue/methods/prefix is unexpected
/DelayQueue/methods/prepare is unexpected
/DelayQueue/methods/pushOnce is unexpected
/DelayQueue/methods/rateLimit is unexpected
/DelayQueue/methods/receipts is unexpected
/DelayQueue/methods/reseal is unexpected
/DelayQueue/methods/sibling is unexpected
/DelayQueue/methods/takenIds is unexpected
/DelayQueue/methods/tellWorkers is unexpected
/DelayQueue/methods/tryPush is unexpected
/DelayQueue/methods/workers is unexpected
/DelayQueue\Backoff/interfaces/0 is unexpected
/DelayQueue\Backoff/methods/__toString is unexpected
/DelayQueue\Backoff/methods/parse is unexpected
/DelayQueue\Event/constants/WorkerReady is unexpected
/DelayQueue\Event/constants/Cancelled is unexpected
/DelayQueue\Job/interfaces/0 is unexpected
/DelayQueue\Job/properties/group is unexpected
/DelayQueue\Job/methods/ack/parameters/0 is unexpected
/DelayQueue\Job/methods/bury/parameters/1 is unexpected
/DelayQueue\Job/methods/release/parameters/3 is unexpected
/DelayQueue\Job/methods/update/parameters/2 is unexpected
/DelayQueue\Job/methods/deadlineSoon is unexpected
/DelayQueue\JobInfo/properties/timeout is unexpected
/DelayQueue\JobInfo/properties/backoff is unexpected
/DelayQueue\JobInfo/properties/firstDueAt is unexpected
/DelayQueue\JobInfo/properties/expiresAt is unexpected
/DelayQueue\JobInfo/properties/retryUntil is unexpected
/DelayQueue\JobInfo/properties/group is unexpected
/DelayQueue\JobInfo/properties/seal is unexpected
/DelayQueue\JobInfo/properties/sealError is unexpected
/DelayQueue\JobInfo/properties/extras is unexpected
/DelayQueue\JobInfo/methods/place is unexpected
/DelayQueue\Stats/properties/blocked is unexpected
/DelayQueue\Stats/properties/expired is unexpected
/DelayQueue\Stats/properties/workers is unexpected
/DelayQueue\Stats/methods/lateness/parameters/0 is unexpected
/DelayQueue\Stats/methods/history is unexpected
/DelayQueue\Stats/methods/prometheusPage is unexpected
/DelayQueue\Stats/methods/runTimes is unexpected
/DelayQueue\Stats/methods/waitTime is unexpected
/DelayQueue\StopReason/constants/Ordered is unexpected
/DelayQueue\StopReason/constants/Restart is unexpected
/DelayQueue\Testing/methods/calls is unexpected
/DelayQueue\Testing/methods/forgetMemory is unexpected
/DelayQueue\Testing/methods/groupStats is unexpected
/DelayQueue\Testing/methods/job is unexpected
/DelayQueue\Testing/methods/jobInfo is unexpected
/DelayQueue\Testing/methods/offset is unexpected
/DelayQueue\Testing/methods/outcome is unexpected
/DelayQueue\Testing/methods/pushOnce is unexpected
/DelayQueue\Testing/methods/stats is unexpected
/DelayQueue\CancelledException is unexpected
/DelayQueue\GroupLimits is unexpected
/DelayQueue\GroupStats is unexpected
/DelayQueue\JobCall is unexpected
/DelayQueue\JobInterface is unexpected
/DelayQueue\OnExpiry is unexpected
/DelayQueue\PreparedJob is unexpected
/DelayQueue\PushOnce is unexpected
/DelayQueue\QueueInterface is unexpected
/DelayQueue\RateLimited is unexpected
/DelayQueue\SealException is unexpected
/DelayQueue\ShutdownException is unexpected
/DelayQueue\WorkerOrder is unexpected
