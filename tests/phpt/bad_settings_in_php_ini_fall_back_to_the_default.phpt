--TEST--
A bad value in php.ini is reported, and the default used
--FILE--
<?php
require __DIR__ . '/helpers.inc';
function run(string ...$settings): void
{
    $code = 'var_dump(ini_get("delayqueue.dsn"), ini_get("delayqueue.prefix"), ini_get("delayqueue.testing"));';
    $options = array_map(fn($setting) => "-d$setting", ['display_errors=1', 'display_startup_errors=1', 'html_errors=0', ...$settings]);
    echo trim(php(...$options, ...['-r', $code])[0]), "\n\n";
}
run('delayqueue.dsn=redis://:hunter2@h:99999/0', 'delayqueue.prefix=a{b}', 'delayqueue.testing=maybe');
run('delayqueue.dsn=redis://h:1/0', 'delayqueue.prefix=mine', 'delayqueue.testing=1');
run();
?>
--EXPECT--
Warning: PHP Startup: delayqueue.dsn must be a valid DSN, invalid port number; in a password write %40 for @, %3A for :, %2F for /, %3F for ?, %23 for # and %25 for %: the default is used in Unknown on line 0

Warning: PHP Startup: delayqueue.prefix must be 1 to 64 bytes of [A-Za-z0-9._:-]: the default is used in Unknown on line 0

Warning: PHP Startup: delayqueue.testing must be 0 or 1: the default is used in Unknown on line 0
string(0) ""
string(0) ""
string(1) "0"

string(13) "redis://h:1/0"
string(4) "mine"
string(1) "1"

string(0) ""
string(0) ""
string(1) "0"
