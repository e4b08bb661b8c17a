--TEST--
The stub says what Reflection says
--FILE--
<?php
require __DIR__ . '/../tools/surface.php';
echo implode("\n", differences(surface(__DIR__ . '/../../stubs/delayqueue.stub.php'), surface())), "\n";
?>
--EXPECT--
/DelayQueue/methods/consume is missing
/DelayQueue/methods/drain is missing
/DelayQueue/methods/on is missing
