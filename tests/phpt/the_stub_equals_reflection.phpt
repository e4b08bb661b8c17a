--TEST--
The stub says what Reflection says
--FILE--
<?php
require __DIR__ . '/../tools/surface.php';
$differences = differences(surface(__DIR__ . '/../../stubs/delayqueue.stub.php'), surface());
echo $differences === [] ? 'equal' : implode("\n", $differences), "\n";
?>
--EXPECT--
equal
