--TEST--
DateTimeInterface is an absolute moment, exact to the microsecond; a past one keeps its place
--FILE--
<?php
require __DIR__ . '/helpers.inc';
class Odd extends DateTimeImmutable { function format(string $format): string { return 'mine'; } }
$queue = queue();
$due = function (DateTimeInterface $moment) use ($queue) {
    $id = $queue->push(1, $moment);
    $at = $queue->peek($id)->dueAt;
    $queue->cancel($id);
    return number_format($at, 6, '.', '');
};
foreach ([
    '2000-01-01 00:00:00 UTC', '2000-01-01 00:00:00.000001 UTC', '2000-01-01 00:00:00.999999 UTC', '2000-01-01 00:00:00.123 UTC',
    '2000-01-01 00:00:00.123001 UTC', '2000-01-01 00:00:00 America/New_York', '1969-12-31 23:59:59.5 UTC', '1960-01-01 00:00:00.0004 UTC',
    '2090-06-01 12:00:00 Europe/Berlin',
] as $text) {
    echo $text, ' => ', $due(new DateTimeImmutable($text)), ' ', $due(new DateTime($text)), ' ', $due(new Odd($text)), "\n";
}
$queue->push('b', new DateTime('@2000'));
$queue->push('a', new DateTime('@1000'));
$queue->push('now');
var_dump($queue->reserve()->payload, $queue->reserve()->payload, $queue->reserve()->payload);
$job = $queue->push('c', new DateTime('@3000'), id: 'c');
$queue->reserve()->release(new DateTime('@4000.5'));
var_dump($queue->peek('c')->dueAt, $queue->reschedule('c', new DateTimeImmutable('@1')), $queue->peek('c')->dueAt);
try {
    $queue->push(1, (new ReflectionClass(Odd::class))->newInstanceWithoutConstructor());
} catch (Error $error) {
    // The rest, and since PHP 8.3 the class, depend on the version of PHP.
    echo preg_match('/has not been correctly initialized by /', $error->getMessage()) ? 'Error: not correctly initialized' : $error, "\n";
}
$queue->purge();
?>
--EXPECT--
2000-01-01 00:00:00 UTC => 946684800.000000 946684800.000000 946684800.000000
2000-01-01 00:00:00.000001 UTC => 946684800.000001 946684800.000001 946684800.000001
2000-01-01 00:00:00.999999 UTC => 946684800.999999 946684800.999999 946684800.999999
2000-01-01 00:00:00.123 UTC => 946684800.123000 946684800.123000 946684800.123000
2000-01-01 00:00:00.123001 UTC => 946684800.123001 946684800.123001 946684800.123001
2000-01-01 00:00:00 America/New_York => 946702800.000000 946702800.000000 946702800.000000
1969-12-31 23:59:59.5 UTC => 0.000000 0.000000 0.000000
1960-01-01 00:00:00.0004 UTC => 0.000000 0.000000 0.000000
2090-06-01 12:00:00 Europe/Berlin => 3799994400.000000 3799994400.000000 3799994400.000000
string(1) "a"
string(1) "b"
string(3) "now"
float(4000.5)
bool(true)
float(1)
Error: not correctly initialized
