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
/DelayQueue/methods/kick/parameters/0/type: expected "int", got "int|null"
/DelayQueue/methods/kick/parameters/0/default: expected "1", got "NULL"
/DelayQueue\Release/properties/delay/type: expected "float", got "float|null"
/DelayQueue\Release/methods/__construct/parameters/0/type: expected "DateInterval|float|int|string", got "DateInterval|DateTimeInterface|float|int|string"
