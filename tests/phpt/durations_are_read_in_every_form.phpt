--TEST--
Durations: seconds, numeric strings, duration strings, DateInterval; rounded up to the millisecond
--FILE--
<?php
$seconds = fn($delay) => (new DelayQueue\Release($delay))->delay;
foreach ([
    0, 5, 1.5, 0.0004, 1.1, 0.0, -0.0, 3155760000, '0', '15', '1.5', ' 2 ', '1e3', '500ms', '15m', '2h30m', '1d', 'PT15M', 'P1D', '0.0001',
] as $delay) {
    echo json_encode($delay, JSON_PRESERVE_ZERO_FRACTION), ' => ', json_encode($seconds($delay)), "\n";
}
var_dump($seconds(new DateInterval('PT90M')), $seconds(new DateInterval('P2DT3S')));
$calendar = [new DateInterval('P1M'), new DateInterval('P1Y'), DateInterval::createFromDateString('1 month'), (new DateTime('2024-01-01'))->diff(new DateTime('2024-03-02'))];
foreach (['P1M', '1 month', ...$calendar] as $delay) {
    try {
        $seconds($delay);
    } catch (ValueError $error) {
        echo $error->getMessage(), "\n";
    }
}
$fraction = new DateInterval('PT1S');
$fraction->f = 0.0005001;
var_dump($seconds($fraction), $seconds(DateInterval::createFromDateString('3 days')));
$sub = new class('PT2S') extends DateInterval {};
var_dump($seconds($sub));
// The difference of two dates is relative again.
var_dump($seconds((new DateTime('2024-01-01'))->diff(new DateTime('2024-01-02'))));
?>
--EXPECT--
0 => 0
5 => 5
1.5 => 1.5
0.0004 => 0.001
1.1 => 1.1
0.0 => 0
-0.0 => 0
3155760000 => 3155760000
"0" => 0
"15" => 15
"1.5" => 1.5
" 2 " => 2
"1e3" => 1000
"500ms" => 0.5
"15m" => 900
"2h30m" => 9000
"1d" => 86400
"PT15M" => 900
"P1D" => 86400
"0.0001" => 0.001
float(5400)
float(172803)
DelayQueue\Release::__construct(): Argument #1 ($delay) must have no months or years, as their lengths differ: give days
DelayQueue\Release::__construct(): Argument #1 ($delay) must have no months or years, as their lengths differ: give days
DelayQueue\Release::__construct(): Argument #1 ($delay) must have no months or years, as their lengths differ: give days
DelayQueue\Release::__construct(): Argument #1 ($delay) must have no months or years, as their lengths differ: give days
DelayQueue\Release::__construct(): Argument #1 ($delay) must have no months or years, as their lengths differ: give days
DelayQueue\Release::__construct(): Argument #1 ($delay) must have no months or years, as their lengths differ: give days
float(1.001)
float(259200)
float(2)
float(86400)
