--TEST--
The stub keeps the contract; only additions are allowed
--FILE--
<?php
require __DIR__ . '/../tools/surface.php';
$contract = surface(__DIR__ . '/../contract/delayqueue.stub.php');
$stub = surface(__DIR__ . '/../../stubs/delayqueue.stub.php');
echo implode("\n", differences($contract, $stub)), "\n";
?>
--EXPECT--
/DelayQueue/constants/VERSION is unexpected
/DelayQueue/methods/__construct/parameters/2/attributes is unexpected
/DelayQueue/methods/consume/parameters/10 is unexpected
/DelayQueue/methods/doctor/parameters/0 is unexpected
/DelayQueue/methods/dsn is unexpected
/DelayQueue/methods/installScripts is unexpected
/DelayQueue/methods/name is unexpected
/DelayQueue/methods/partitions is unexpected
/DelayQueue/methods/prefix is unexpected
/DelayQueue/methods/reseal is unexpected
/DelayQueue\Backoff/interfaces/0 is unexpected
/DelayQueue\Backoff/methods/__toString is unexpected
/DelayQueue\Backoff/methods/parse is unexpected
/DelayQueue\Event/constants/Cancelled is unexpected
/DelayQueue\Job/methods/update/parameters/2 is unexpected
/DelayQueue\Job/methods/deadlineSoon is unexpected
/DelayQueue\JobInfo/properties/timeout is unexpected
/DelayQueue\JobInfo/properties/backoff is unexpected
/DelayQueue\JobInfo/properties/seal is unexpected
/DelayQueue\JobInfo/properties/sealError is unexpected
/DelayQueue\Testing/methods/offset is unexpected
/DelayQueue\CancelledException is unexpected
/DelayQueue\SealException is unexpected
