--TEST--
dl() is refused with the reason, and the process ends without a crash; the ini settings go with the module
--FILE--
<?php
$so = getenv('DELAYQUEUE_TEST_EXTENSION');
$try = function (string $code, string ...$settings) use ($so): void {
    $command = [PHP_BINARY, '-n', '-d', 'enable_dl=1', '-d', 'display_errors=1', '-d', 'html_errors=0', '-d', 'extension_dir=' . dirname($so), ...$settings, '-r', $code];
    $process = proc_open($command, [1 => ['pipe', 'w'], 2 => ['redirect', 1]], $pipes);
    $said = trim(preg_replace(['/ in .*? on line \d+/', '/\n+/'], ['', "\n"], stream_get_contents($pipes[1])));
    $exit = proc_close($process);
    echo str_replace(basename($so), 'delayqueue.so', $said), "\n", "exit $exit", "\n";
};
foreach (['', 'new DelayQueue("q");', 'DelayQueue\State::Ready;', 'ini_get("delayqueue.dsn") === false || print("set");'] as $then) {
    $try('var_dump(dl(' . var_export(basename($so), true) . ")); try { $then } catch (Error \$e) { echo \$e->getMessage(); }");
}
$try('dl(' . var_export(basename($so), true) . ');', '-d', "extension=$so");
$try('echo ini_get("delayqueue.prefix");', '-d', "extension=$so", '-d', 'delayqueue.prefix=mine');
?>
--EXPECTF--
Warning: dl(): delayqueue cannot be loaded with dl(): add extension=delayqueue to php.ini
Warning: dl(): Unable to initialize module %cdelayqueue%c
bool(false)
exit 0
Warning: dl(): delayqueue cannot be loaded with dl(): add extension=delayqueue to php.ini
Warning: dl(): Unable to initialize module %cdelayqueue%c
bool(false)
Class "DelayQueue" not found
exit 0
Warning: dl(): delayqueue cannot be loaded with dl(): add extension=delayqueue to php.ini
Warning: dl(): Unable to initialize module %cdelayqueue%c
bool(false)
Class "DelayQueue\State" not found
exit 0
Warning: dl(): delayqueue cannot be loaded with dl(): add extension=delayqueue to php.ini
Warning: dl(): Unable to initialize module %cdelayqueue%c
bool(false)
exit 0
Warning: Module "delayqueue" is already loaded
exit 0
mine
exit 0
