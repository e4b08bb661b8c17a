--TEST--
With strict_types=1 scalars are not coerced
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/helpers.inc';
class Text { function __toString(): string { return '2s'; } }
caught(fn() => new DelayQueue\Release(true));
caught(fn() => new DelayQueue\Release(new Text));
caught(fn() => new DelayQueue\Release(1, 5));
caught(fn() => DelayQueue\Backoff::fixed(1)->delayAfter('3'));
caught(fn() => DelayQueue\Backoff::exponential(1, '2'));
caught(fn() => offline()->reserve('0.5'));
caught(fn() => offline()->push(1, id: 5));
caught(fn() => offline()->push(1, priority: '5'));
caught(fn() => offline()->kickJob('id', 1));
caught(fn() => new DelayQueue('q', null, ['ttr' => '30', 'priority' => '5']));
var_dump(DelayQueue\Backoff::exponential(1, 2)->delayAfter(2), (new DelayQueue\Release('2'))->delay);
?>
--EXPECT--
TypeError: DelayQueue\Release::__construct(): Argument #1 ($delay) must be of type DateInterval|DateTimeInterface|string|int|float, bool given
TypeError: DelayQueue\Release::__construct(): Argument #1 ($delay) must be of type DateInterval|DateTimeInterface|string|int|float, Text given
TypeError: DelayQueue\Release::__construct(): Argument #2 ($message) must be of type string, int given
TypeError: DelayQueue\Backoff::delayAfter(): Argument #1 ($attempt) must be of type int, string given
TypeError: DelayQueue\Backoff::exponential(): Argument #2 ($factor) must be of type float, string given
TypeError: DelayQueue::reserve(): Argument #1 ($timeout) must be of type int|float|null, string given
TypeError: DelayQueue::push(): Argument #3 ($id) must be of type ?string, int given
TypeError: DelayQueue::push(): Argument #4 ($priority) must be of type ?int, string given
TypeError: DelayQueue::kickJob(): Argument #2 ($resetAttempts) must be of type bool, int given
no exception: DelayQueue
float(2)
float(2)
