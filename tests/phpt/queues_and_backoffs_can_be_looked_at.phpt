--TEST--
A queue tells its name, DSN and prefix; var_dump() shows queue and backoff without a password
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\Backoff;
$key = random_bytes(32);
$queue = new DelayQueue('orders', 'rediss://shop:hunter2@[::1]:6380/3', ['prefix' => 'eu', 'ttr' => '2m', 'backoff' => Backoff::fixed('5s'), 'keys' => ['k' => $key]]);
var_dump($queue->name(), $queue->settings()->dsn, $queue->settings()->prefix);
var_dump($queue->watch('a', 'b'));
print_r(Backoff::stages('15s 3m'));
foreach (['redis+sentinel://u:hunter2@s1,s2:7/m/1?sentinel_password=hunter2', 'redis+cluster://:hunter2@n1,[::2]:7000', 'redis+unix://u:hunter2@/run/redis.sock'] as $dsn) {
    $other = new DelayQueue('q', $dsn);
    echo $other->settings()->dsn, "\n";
    var_dump(str_contains(print_r($other, true) . var_export((array) $other, true), 'hunter2'));
}
ob_start();
var_dump($queue);
print_r($queue);
$shown = ob_get_clean();
var_dump(str_contains($shown, 'hunter2'), str_contains($shown, $key));
?>
--EXPECTF--
string(6) "orders"
string(30) "rediss://shop:***@[::1]:6380/3"
string(2) "eu"
object(DelayQueue)#%d (10) {
  ["name"]=>
  string(6) "orders"
  ["dsn"]=>
  string(30) "rediss://shop:***@[::1]:6380/3"
  ["prefix"]=>
  string(2) "eu"
  ["watch"]=>
  array(2) {
    [0]=>
    string(1) "a"
    [1]=>
    string(1) "b"
  }
  ["ttr"]=>
  float(120)
  ["maxAttempts"]=>
  int(10)
  ["backoff"]=>
  string(8) "fixed 5s"
  ["priority"]=>
  int(1024)
  ["format"]=>
  string(4) "json"
  ["sealed"]=>
  bool(true)
}
DelayQueue\Backoff Object
(
    [schedule] => stages 15s 3m
)
redis+sentinel://u:***@s1:26379,s2:7/m/1
bool(false)
redis+cluster://:***@n1:6379,[::2]:7000
bool(false)
redis+unix://u:***@/run/redis.sock?db=0
bool(false)
bool(false)
bool(false)
