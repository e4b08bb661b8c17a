--TEST--
ini_set() refuses bad values; a good prefix and DSN are used by queues made afterwards
--FILE--
<?php
require __DIR__ . '/helpers.inc';
foreach ([
    'delayqueue.dsn' => ['', 'redis://localhost:1', 'nonsense', "redis://h\0", 'http://localhost', "redis://\xff"],
    'delayqueue.prefix' => ['', 'a.b', 'a{b}', str_repeat('p', 65)],
    'delayqueue.testing' => ['1', 'on', '0', 'off', 'maybe', '2'],
] as $name => $values) {
    foreach ($values as $value) {
        echo $name, '=', json_encode($value, JSON_INVALID_UTF8_SUBSTITUTE), ' ', json_encode(ini_set($name, $value)), ' ', json_encode(ini_get($name)), "\n";
    }
    ini_restore($name);
}
ini_set('delayqueue.dsn', 'redis+unix:///nonexistent/from-ini.sock');
caught(fn() => (new DelayQueue('q'))->count());
ini_set('delayqueue.dsn', getenv('DELAYQUEUE_TEST_DSN'));
ini_set('delayqueue.prefix', 'other');
$other = new DelayQueue('ini');
$other->push(1);
var_dump(count($other), count(new DelayQueue('ini', options: ['prefix' => 'dq'])), $other->queues());
$other->purge();
?>
--EXPECT--
delayqueue.dsn="" "" ""
delayqueue.dsn="redis:\/\/localhost:1" "" "redis:\/\/localhost:1"
delayqueue.dsn="nonsense" false "redis:\/\/localhost:1"
delayqueue.dsn="redis:\/\/h\u0000" false "redis:\/\/localhost:1"
delayqueue.dsn="http:\/\/localhost" false "redis:\/\/localhost:1"
delayqueue.dsn="redis:\/\/\ufffd" false "redis:\/\/localhost:1"
delayqueue.prefix="" "" ""
delayqueue.prefix="a.b" "" "a.b"
delayqueue.prefix="a{b}" false "a.b"
delayqueue.prefix="ppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp" false "a.b"
delayqueue.testing="1" "0" "1"
delayqueue.testing="on" "1" "on"
delayqueue.testing="0" "on" "0"
delayqueue.testing="off" "0" "off"
delayqueue.testing="maybe" false "off"
delayqueue.testing="2" false "off"
DelayQueue\ConnectionException: looking at queue 'q': cannot connect to redis+unix:///nonexistent/from-ini.sock?db=0: no such socket: is Redis running, with this 'unixsocket'?
int(1)
int(0)
array(1) {
  [0]=>
  string(3) "ini"
}
