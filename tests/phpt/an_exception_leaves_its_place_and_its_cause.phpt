--TEST--
lastError says where an exception was thrown, by what it was caused and how it was reached, without arguments or passwords
--INI--
zend.exception_ignore_args=0
--FILE--
<?php
require __DIR__ . '/helpers.inc';
class Db
{
    static function connect(string $secret): void { throw new PDOExceptionLike("cannot reach mysql://shop:hunter2@db/shop"); }
}
class PDOExceptionLike extends RuntimeException {}
function charge(string $secret): void
{
    try {
        Db::connect('hunter3');
    } catch (PDOExceptionLike $e) {
        throw new LogicException('not charged', 0, $e);
    }
}
$queue = queue();
$queue->push(1, id: 'j');
$error = function () use ($queue): string {
    return str_replace(__FILE__, 'FILE', (string) $queue->peek('j')->lastError);
};
try {
    charge('hunter4');
} catch (LogicException $e) {
    $queue->reserveJob('j')->fail($e);
}
echo $error(), "\n\n";
$queue->kickJob('j');
$queue->consume(fn() => charge('hunter5'), maxJobs: 1);
echo $error(), "\n\n";
// Bounded, whatever there is to say: a long message, a deep trace, many causes.
function deep(int $n): never { $n === 0 ? throw new Exception(str_repeat('x', 5000)) : deep($n - 1); }
$chain = null;
foreach (range(1, 50) as $n) {
    $chain = new Exception("cause $n " . str_repeat('y', 500), 0, $chain);
}
foreach ([fn() => deep(100), fn() => throw $chain] as $throws) {
    try {
        $throws();
    } catch (Exception $e) {
        $queue->reserveJob('j')->bury($e);
    }
    $kept = $queue->peek('j')->lastError;
    var_dump(strlen($kept) <= 2000, substr_count($kept, "\n#"), substr_count($kept, 'caused by'), str_contains($kept, "\nin " . __FILE__));
}
// The words of Bury and of the program itself stay what they are.
$queue->kickJob('j');
$queue->consume(fn() => throw new DelayQueue\Bury('declined'), maxJobs: 1);
var_dump($queue->peek('j')->lastError);
// A login that stands where the text is cut.
$queue->push(1, id: 'cut');
$queue->reserveJob('cut')->fail(new RuntimeException(str_repeat('x', 960) . ' redis://app:hunter6' . str_repeat('6', 60) . '@h'));
var_dump(str_contains($queue->peek('cut')->lastError, 'hunter6'));
$queue->cancel('cut');
$queue->reserveJob('j')->fail('redis://u:p@h is mine');
var_dump($queue->peek('j')->lastError);
$queue->purge();
?>
--EXPECTF--
LogicException: not charged
in FILE:%d
caused by PDOExceptionLike: cannot reach mysql://shop:***@db/shop in FILE:%d
#0 FILE(%d): charge()

LogicException: not charged
in FILE:%d
caused by PDOExceptionLike: cannot reach mysql://shop:***@db/shop in FILE:%d
#0 FILE(%d): charge()
#1 [internal function]: {closure%S}()

bool(true)
int(8)
int(0)
bool(true)
bool(true)
int(0)
int(3)
bool(true)
string(8) "declined"
bool(false)
string(21) "redis://u:p@h is mine"
