--TEST--
phpinfo() and --ri show version, client, TLS and settings, but no password
--FILE--
<?php
require __DIR__ . '/helpers.inc';
[$ri] = php('-d', 'delayqueue.dsn=redis://user:hunter2@localhost:6380/3', '--ri', 'delayqueue');
echo preg_replace('/^(Version|Rust|Commit) => .+$/m', '$1 => *', trim($ri)), "\n\n";
preg_match('/^Version => (.*)$/m', $ri, $version);
var_dump($version[1] === phpversion('delayqueue'), $version[1] === DelayQueue::VERSION);
// The crate's version is the one that is built in.
preg_match('/^redis crate => (.*)$/m', $ri, $crate);
var_dump(str_contains(file_get_contents(__DIR__ . '/../../Cargo.lock'), "name = \"redis\"\nversion = \"$crate[1]\""));

ini_set('delayqueue.dsn', 'redis://:hunter2@elsewhere:6381');
ob_start();
phpinfo(INFO_MODULES);
$info = ob_get_clean();
var_dump(str_contains($info, 'hunter2'));
preg_match('/^delayqueue.dsn.*$/m', $info, $line);
echo $line[0], "\n";
?>
--EXPECT--
delayqueue

delayqueue support => enabled
Version => *
Commit => *
Rust => *
redis crate => 1.8.1
TLS => rustls (ring)
Servers tested => Redis 6.2, 7.0, 8.0; Valkey 8.1, 9.1

Directive => Local Value => Master Value
delayqueue.dsn => redis://user:***@localhost:6380/3 => redis://user:***@localhost:6380/3
delayqueue.prefix => no value => no value
delayqueue.testing => 0 => 0

bool(true)
bool(true)
bool(true)
bool(false)
delayqueue.dsn => redis://:***@elsewhere:6381/0 => no value
