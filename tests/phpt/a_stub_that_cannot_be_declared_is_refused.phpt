--TEST--
The build refuses a stub with something that the extension cannot declare, and names it
--FILE--
<?php
$read = function (string $code): void {
    $folder = sys_get_temp_dir() . '/delayqueue-stub-' . getmypid();
    mkdir($folder);
    file_put_contents("$folder/stub.php", "<?php namespace DelayQueue { $code }");
    $command = [PHP_BINARY, '-n', '-d', 'display_errors=stderr', __DIR__ . '/../../src/php/stub.php', "$folder/stub.php", $folder];
    $process = proc_open($command, [2 => ['pipe', 'w']], $pipes);
    echo str_replace($folder, '', trim(stream_get_contents($pipes[2]))), ' | ', proc_close($process), "\n";
    echo implode(' ', array_map(basename(...), glob("$folder/*.rs"))), "\n";
    array_map(unlink(...), glob("$folder/*"));
    rmdir($folder);
};
$read('final class Thing { public function work(int $times = 1): void {} }');
$read('final class Thing { private function work(): void {} }');
$read('final class Thing { public function work($times): void {} }');
$read('final class Thing { public function work(): \Countable&\Traversable {} }');
$read('final class Thing { public function work(#[Unknown] int $times): void {} }');
$read('final class Thing { public static int $times; }');
$read('final class Thing { public int $times = 7; }');
?>
--EXPECT--
 | 0
classes.rs declarations.rs
DelayQueue\Thing::work() of the stub is not public | 1

DelayQueue\Thing::work(), $times of the stub has no type | 1

DelayQueue\Thing::work() of the stub has the type Countable&Traversable, which stub.php cannot read | 1

DelayQueue\Thing::work(), $times of the stub has an attribute that stub.php does not know | 1

DelayQueue\Thing::$times of the stub is not a public property of objects | 1

DelayQueue\Thing::$times of the stub has a default that stub.php does not know | 1
