<?php

/** One request of a web page that uses the queue; ?do= says which. Prints JSON. */

declare(strict_types=1);

$dsn = $_GET['dsn'];
// Longer than a test holds anything back, or a busy machine lets it wait.
$queue = new DelayQueue('page', $dsn, ['readTimeout' => 20]);
$id = $_GET['id'] ?? null;
$answer = static function (mixed $result): void {
    header('Content-Type: application/json');
    echo json_encode(['pid' => getmypid(), 'result' => $result]);
};

switch ($_GET['do']) {
    case 'push':
        $answer($queue->push(['of' => $id], id: $id));
        break;
    case 'count':
        $answer($queue->count());
        break;
    case 'round trip':
        $queue->push(['of' => $id], id: $id);
        $seen = $queue->peek($id)->payload;
        $job = $queue->reserveJob($id);
        $job->ack();
        $answer([$seen, $job->payload, $queue->peek($id)]);
        break;
    case 'private connection':
        $private = new DelayQueue('page', $dsn, ['persistent' => false, 'readTimeout' => 20]);
        $answer($private->push(['of' => $id], id: $id));
        break;
    case 'leave a job reserved':
        $GLOBALS['kept'] = $queue->reserveJob($queue->push(['of' => $id], id: $id));
        $answer($GLOBALS['kept']->attempts);
        break;
    case 'keep a job alive':
        $queue->push(['of' => $id], id: $id, ttr: 1);
        $GLOBALS['kept'] = $queue->reserveJob($id);
        $GLOBALS['kept']->keepAlive();
        usleep(2_200_000);
        $answer([count(scandir('/proc/self/task')) - 2, $GLOBALS['kept']->isLost(), $queue->peek($id)->timeouts]);
        break;
    case 'settings':
        $found = (new DelayQueue('page'))->settings();
        $answer([$found->dsn, $found->prefix]);
        break;
    case 'set testing':
        $before = ini_set('delayqueue.testing', '1');
        try {
            $answer([$before, DelayQueue\Testing::job($id)->payload === $id]);
        } catch (Error) {
            $answer([$before, false]);
        }
        break;
    case 'opcache':
        $answer(opcache_get_status(false)['opcache_enabled'] ?? false);
        break;
    case 'exit in a generator':
        $queue->pushMany((static function () use ($id) {
            for ($n = 0; ; $n++) {
                $n === 700 && exit('left');
                yield ['payload' => $n, 'id' => "$id-$n"];
            }
        })());
        break;
    case 'exit with a job in hand':
        $queue->push(['of' => $id], id: $id);
        $job = $queue->reserveJob($id);
        exit('left');
    case 'memory':
        ini_set('memory_limit', '16M');
        $queue->pushMany((static function () use ($id) {
            for ($n = 0, $hoard = []; ; $n++) {
                $hoard[] = str_repeat('x', 20_000 + $n); // not a constant, which opcache would keep once
                yield ['payload' => $n, 'id' => "$id-$n"];
            }
        })());
        break;
    case 'memory in json':
        ini_set('memory_limit', '16M');
        $queue->push(new class implements JsonSerializable {
            public function jsonSerialize(): array
            {
                return array_fill(0, 100_000_000, 'x');
            }
        }, id: $id);
        break;
    case 'uncaught':
        $queue->push(['of' => $id], id: $id);
        $queue->push(['of' => $id], id: $id);
        break;
    case 'time limit':
        // Counts processor time, and a round trip is mostly waiting: work uses up the greater part of it. Then requests go to and fro
        // until it strikes somewhere in the middle.
        set_time_limit(1);
        $used = static fn (): float => array_sum(array_map(
            static fn (string $mode): float => getrusage()["ru_$mode.tv_sec"] + getrusage()["ru_$mode.tv_usec"] / 1e6,
            ['utime', 'stime'],
        ));
        for ($until = $used() + 0.8; $used() < $until;) {
            hash('sha256', str_repeat('x', 100_000));
        }
        for ($n = 0; ; $n++) {
            $queue->push(str_repeat("$id-$n ", 500), id: "$id-$n");
            $queue->reserveJob("$id-$n")->ack();
        }
    case 'wait':
        $answer($queue->reserve(60)?->id);
        break;
}
