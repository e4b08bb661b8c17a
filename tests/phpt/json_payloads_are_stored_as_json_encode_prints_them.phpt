--TEST--
JSON payloads: the stored bytes are json_encode()'s, the value comes back as json_decode() gives it
--FILE--
<?php
require __DIR__ . '/helpers.inc';
enum Suit: string { case Hearts = 'H'; }
class Point implements JsonSerializable { function __construct(public int $x, private int $y) {} function jsonSerialize(): array { return ['y' => $this->y]; } }
class Plain { public $a = 1; protected $b = 2; private $c = 3; public ?Plain $next = null; }
$flags = JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_PRESERVE_ZERO_FRACTION | JSON_THROW_ON_ERROR;
$reference = 'r';
$deep = [];
for ($i = 1; $i < 511; $i++) $deep = [$deep];
$values = [
    null, true, false, 0, -1, PHP_INT_MAX, PHP_INT_MIN, 0.0, 1.0, -0.0, 0.1, 1e100, 1.5e-10, '', '0', 'a/b', 'ü€😀', "\u{2028}", "a\0b", "\x7f",
    '"\\', [], new stdClass, (object) [], [1, 2], [1 => 'a'], ['a' => ['b' => []]], [[]], ['' => 1], Suit::Hearts, new Point(1, 2), new Plain,
    ['o' => new Plain, 's' => Suit::Hearts], ['r' => &$reference], new ArrayObject([1]), new DateTime('2024-01-02 UTC'), ['9223372036854775808'], $deep, range(1, 1000),
];
$wrong = 0;
$queue = queue();
foreach ($values as $i => $value) {
    $expected = json_encode($value, $flags);
    $queue->push($value);
    $job = $queue->reserve();
    if ($job->body !== $expected || $job->payload !== json_decode($expected, true, 512, JSON_THROW_ON_ERROR)) {
        $wrong++;
        echo "value $i: $job->body instead of $expected\n";
    }
    $info = $queue->peek($job->id);
    $wrong += $info->body !== $expected || $info->payload !== $job->payload;
    $job->ack();
}
echo count($values), " values, $wrong wrong\n";
// A big number in the stored text is what json_decode() makes of it.
$queue->push(json_decode('{"n":1}'));
$queue->update($queue->peekReady()->id, ['n' => 2]);
var_dump($queue->reserve()->body);
// json_last_error() belongs to the program.
json_decode('{');
$queue->push(1);
var_dump(json_last_error_msg());
$queue->purge();
?>
--EXPECT--
39 values, 0 wrong
string(7) "{"n":2}"
string(12) "Syntax error"
