--TEST--
JobInfo::$waitsFor: for what a job waits, until when, how many come before it, and who holds up its group
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\GroupLimits;
use DelayQueue\State;
use DelayQueue\WaitReason;
$queue = queue();
$show = function (string $id) use ($queue): void {
    $info = $queue->peek($id);
    $minutes = $info->earliestAt === null ? null : (int) round(($info->earliestAt - $queue->now()) / 60);
    echo $info->waitsFor?->value ?? 'nothing that it shows', ' ', json_encode([$minutes, $info->ahead, $info->heldUpBy]), "\n";
};
$queue->push(1, '1h', 'later');
$queue->push(1, id: 'a');
$queue->push(1, id: 'b');
array_map($show, ['later', 'a', 'b']);
var_dump($queue->list(State::Ready)[0]->waitsFor, $queue->peekReady()->waitsFor);
$queue->pause('10m');
$show('a');
$queue->pause();
$show('a');
$queue->resume();
$queue->limitQueue(concurrency: 1);
$job = $queue->reserve();
$show('a');
$show('b');
$job->bury();
$show('a');
$queue->limitQueue();

echo "-- groups\n";
foreach (['x', 'y'] as $id) {
    $queue->push(1, id: $id, group: 'g');
}
$queue->pause(group: 'g');
$show('y');
$queue->resume('g');
$queue->rateLimit('5m', 'g');
$show('y');
$queue->resume('g');
$queue->limitGroups('g', new GroupLimits(ordered: true));
$queue->reserveJob('x')->release('20m');
$show('y');
$queue->limitGroups('g', new GroupLimits(concurrency: 1));
$queue->reserveJob('x');
$show('y');
$queue->limitGroups('g', new GroupLimits(rate: '1/30m'));
$queue->reserveJob('b');
while ($job = $queue->reserve()) {
    $job->release();
    if ($job->group === 'g') break;
}
$show('y');
echo implode(' ', array_map(fn(WaitReason $reason) => $reason->name, WaitReason::cases())), "\n";
?>
--EXPECT--
delay [60,null,null]
nothing [null,0,null]
line [null,1,null]
NULL
NULL
queuePaused [10,null,null]
queuePaused [null,null,null]
nothing that it shows [null,null,null]
queueLimit [null,0,null]
nothing that it shows [null,null,null]
-- groups
groupPaused [null,1,null]
groupClosed [5,1,null]
groupOrder [20,1,"x"]
groupConcurrency [null,0,null]
groupRate [30,0,null]
Delay QueuePaused GroupPaused GroupClosed GroupOrder GroupConcurrency GroupRate QueueLimit Line Nothing
