--TEST--
The stub keeps the contract, but for wider parameters and what it adds
--FILE--
<?php
require __DIR__ . '/../tools/surface.php';
$contract = surface(__DIR__ . '/../contract/delayqueue.stub.php');
$stub = surface(__DIR__ . '/../../stubs/delayqueue.stub.php');
echo implode("\n", differences($contract, $stub, additionsAreFine: true)), "\n";
?>
--EXPECT--
/DelayQueue/methods/ackMany/parameters/0/type: expected "DelayQueue\\Job", got "DelayQueue\\JobInterface"
