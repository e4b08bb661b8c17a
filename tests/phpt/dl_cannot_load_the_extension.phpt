--TEST--
dl() is refused with the reason, and the process ends without a crash; the ini settings go with the module
--FILE--
<?php
$so = getenv('DELAYQUEUE_TEST_EXTENSION');
$try = function (string $code, string ...$settings) use ($so): void {
    $command = [PHP_BINARY, '-n', '-d', 'enable_dl=1', '-d', 'display_errors=1', '-d', 'html_errors=0', '-d', 'extension_dir=' . dirname($so), ...$settings, '-r', $code];
    $process = proc_open($command, [1 => ['pipe', 'w'], 2 => ['redirect', 1]], $pipes);
    $said = trim(preg_replace('/ in .*? on line \d+|\nStack trace:.*|\nFatal/s', '', stream_get_contents($pipes[1])));
    $exit = proc_close($process);
    echo str_replace(basename($so), 'delayqueue.so', $said), "\n", $exit === 255 ? 'a fatal error' : "exit $exit", "\n";
};
foreach (['class_exists("DelayQueue");', 'new DelayQueue("q");', '@DelayQueue\State::Ready;'] as $then) {
    $try('dl(' . var_export(basename($so), true) . "); $then");
}
$try('dl(' . var_export(basename($so), true) . ');', '-d', "extension=$so");
$try('echo ini_get("delayqueue.prefix");', '-d', "extension=$so", '-d', 'delayqueue.prefix=mine');
?>
--EXPECTF--
Warning: %Sdelayqueue cannot be loaded with dl(): add extension=delayqueue to php.ini
%A
a fatal error
Warning: %Sdelayqueue cannot be loaded with dl(): add extension=delayqueue to php.ini
%A
a fatal error
Warning: %Sdelayqueue cannot be loaded with dl(): add extension=delayqueue to php.ini
%A
a fatal error
Warning: Module "delayqueue" is already loaded
exit 0
mine
exit 0
