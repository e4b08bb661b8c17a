--TEST--
A group can be paused, rate limited, looked at and cancelled
--INI--
delayqueue.testing=1
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\{State, Testing};
foreach ([1, 4] as $partitions) {
    echo "== partitions: $partitions\n";
    Testing::travelBack();
    $queue = queue(['partitions' => $partitions, 'ttr' => '1d'], "-$partitions");
    $next = function () use ($queue): string {
        $job = $queue->reserve();
        $job?->ack();
        return $job->id ?? 'none';
    };
    $push = fn(string ...$ids) => $queue->pushMany(array_map(fn(string $id) => ['payload' => 1, 'id' => $id, 'group' => $id[0]], $ids));
    $closed = function (string $group) use ($queue): string {
        $stats = $queue->groupStats($group);
        $until = $stats->closedUntil === null ? 'null' : round($stats->closedUntil - $queue->now());
        return json_encode([$queue->isPaused($group), $stats->paused, $stats->nextTurnAt !== null]) . " $until";
    };

    echo "-- pause: ";
    $push('a1', 'a2', 'a4');
    echo $closed('a'), ', ';
    $queue->pause(group: 'a');
    $push('a3');
    echo $next(), ' ', json_encode($queue->isPaused()), ' ', $closed('a'), ', ', $queue->stats()->blocked, ', ';
    $queue->push(1, id: 'plain');
    echo $next(), ', ', $queue->reserveJob('a3')->id, ', ';
    $queue->resume('a');
    echo $closed('a'), ' ', $next(), "\n";

    echo "-- for some time: ";
    $queue->pause('1h', 'a');
    echo $closed('a'), ' ', $next(), ', ';
    $queue->pause('1m', 'a');
    echo $closed('a'), ', ';
    Testing::travel('61s');
    echo json_encode($queue->isPaused('a')), ' ', $next(), "\n";

    echo "-- rateLimit only lengthens: ";
    $queue->purge();
    $push('b1', 'b2', 'b3');
    $queue->rateLimit('1h', 'b');
    echo $closed('b'), ' ', $next(), ', ';
    $queue->rateLimit('1m', 'b');
    echo $closed('b'), ', ';
    $queue->pause('1m', 'b');
    echo $closed('b'), ', ';
    $queue->pause(group: 'b');
    $queue->rateLimit('1m', 'b');
    echo $closed('b'), ', ';
    $queue->resume('b');
    echo $closed('b'), ' ', $next(), "\n";

    echo "-- the queue: ";
    $queue->rateLimit('1h');
    echo json_encode([$queue->isPaused(), $queue->isPaused('b')]), ' ', $next(), ', ';
    $queue->rateLimit('1m');
    Testing::travel('2m');
    echo json_encode($queue->isPaused()), ' ', $next(), ', ';
    Testing::travel('1h');
    echo json_encode($queue->isPaused()), ' ';
    $queue->pause();
    $queue->rateLimit('1s');
    Testing::travel('2s');
    echo json_encode($queue->isPaused()), ' ';
    $queue->resume();
    echo json_encode($queue->isPaused()), ' ', $next(), "\n";

    echo "-- names and pages: ";
    $queue->purge();
    $push('c1', 'b1', 'a1', 'd1', 'a2');
    $queue->push(1, delay: '1h', id: 'e1', group: 'e');
    $queue->push(1, priority: 1, id: 'a0', group: 'a');
    $queue->push(1, id: 'a9', delay: '1h', group: 'a');
    $queue->reserveJob('d1');
    $queue->reserveJob('c1')->bury();
    echo json_encode($queue->groups()), ' ', json_encode($queue->groups(2)), ' ', json_encode($queue->groups(2, 'b')), ' ', json_encode($queue->groups(after: 'z')), "\n";
    foreach (State::cases() as $state) {
        if ($state !== State::Buried) {
            echo $state->value, ' ', json_encode(array_column($queue->list($state, group: 'a'), 'id')), ' ', json_encode(array_column($queue->list($state, 1, 1, group: 'a'), 'id')), ', ';
        }
    }
    echo json_encode(array_column($queue->list(State::Reserved, group: 'd'), 'id')), ' ', json_encode($queue->list(State::Ready, group: 'none')), "\n";
    $stats = $queue->groupStats('a');
    echo json_encode([$stats->waiting, $stats->reserved, $queue->groupStats('d')->reserved, $queue->groupStats('none')]), "\n";

    echo "-- cancel: ";
    $queue->reserveJob('a0');
    echo $queue->cancelGroup('a'), ' ', $queue->cancelGroup('a'), ' ', $queue->cancelGroup('a', true), ' ', $queue->cancelGroup('c', true), ' ', $queue->cancelGroup('d'), "\n";
    $states = [];
    foreach (['a0', 'a1', 'a2', 'a9', 'b1', 'c1', 'd1', 'e1'] as $id) {
        $states[$id] = $queue->peek($id)?->state->value;
    }
    echo json_encode(array_filter($states)), "\n";
    $queue->purge();
}
?>
--EXPECT--
== partitions: 1
-- pause: [false,false,true] null, none false [true,true,false] null, 4, plain, a3, [false,false,true] null a1
-- for some time: [true,true,true] 3600 none, [true,true,true] 60, false a2
-- rateLimit only lengthens: [true,true,true] 3600 none, [true,true,true] 3600, [true,true,true] 60, [true,true,false] null, [false,false,true] null b1
-- the queue: [true,false] none, true none, false true false b2
-- names and pages: ["a","b","d","e"] ["a","b"] ["d","e"] []
delayed ["a9"] [], ready ["a0","a1","a2"] ["a1"], reserved [] [], ["d1"] []
[4,0,1,{"waiting":0,"reserved":0,"nextTurnAt":null,"closedUntil":null,"paused":false}]
-- cancel: 3 0 1 0 0
{"b1":"ready","c1":"buried","d1":"reserved","e1":"delayed"}
== partitions: 4
-- pause: [false,false,true] null, none false [true,true,false] null, 4, plain, a3, [false,false,true] null a1
-- for some time: [true,true,true] 3600 none, [true,true,true] 60, false a2
-- rateLimit only lengthens: [true,true,true] 3600 none, [true,true,true] 3600, [true,true,true] 60, [true,true,false] null, [false,false,true] null b1
-- the queue: [true,false] none, true none, false true false b2
-- names and pages: ["a","b","d","e"] ["a","b"] ["d","e"] []
delayed ["a9"] [], ready ["a0","a1","a2"] ["a1"], reserved [] [], ["d1"] []
[4,0,1,{"waiting":0,"reserved":0,"nextTurnAt":null,"closedUntil":null,"paused":false}]
-- cancel: 3 0 1 0 0
{"b1":"ready","c1":"buried","d1":"reserved","e1":"delayed"}
