--TEST--
An unknown option, key of an item or option of a DSN is told with the names that may be meant; the same id twice with both items
--FILE--
<?php
require __DIR__ . '/helpers.inc';
try {
    offline(['colour' => 1]);
} catch (ValueError $error) {
    echo $error->getMessage(), "\n";
    preg_match_all("/'(\w+)'/", $error->getMessage(), $names);
    foreach ($names[1] as $name) {
        try {
            offline([$name => new stdClass]);
        } catch (Throwable $error) {
            echo str_contains($error->getMessage(), 'unknown') ? $name : '';
        }
    }
}
caught(fn() => offline()->pushMany([['payload' => 1, 'max_attempts' => 3]]));
caught(fn() => new DelayQueue('q', 'redis://127.0.0.1?databse=3'));
caught(fn() => new DelayQueue('q', 'redis://user:p/w@host'));
caught(fn() => new DelayQueue('q', 'redis://host/2?db=3'));
foreach ([1, 3] as $partitions) {
    $queue = queue(['partitions' => $partitions]);
    caught(fn() => $queue->pushMany([['payload' => 0], ['payload' => 1, 'id' => 'u1'], ['payload' => 2, 'id' => 'u2'], ['payload' => 3, 'id' => 'u1']]));
    $generated = function () { for ($i = 0; $i < 502; $i++) { yield ['payload' => 1, 'id' => 'g' . min($i, 500)]; } };
    caught(fn() => $queue->pushMany($generated()));
    caught(fn() => $queue->pushMany([['payload' => 1, 'id' => 'g1'], ['payload' => 1, 'id' => 'new']]));
    $queue->purge();
}
?>
--EXPECTF--
DelayQueue::__construct(): Argument #3 ($options) has the unknown option "colour"; there are 'prefix', 'ttr', %s, 'keys' and 'signed'
DelayQueue\InvalidArgument: DelayQueue::pushMany(): Argument #1 ($jobs) item 0 has the unknown key "max_attempts"; did you mean 'maxAttempts'?
DelayQueue\InvalidArgument: DelayQueue::__construct(): Argument #2 ($dsn) must be a valid DSN, its option 'databse' is unknown%s
DelayQueue\InvalidArgument: DelayQueue::__construct(): Argument #2 ($dsn) must be a valid DSN, invalid port number; in a password write %s for @, %s
DelayQueue\InvalidArgument: DelayQueue::__construct(): Argument #2 ($dsn) must be a valid DSN, its path and its option 'db' name different databases
DelayQueue\DuplicateJobException: items 1 and 3 have the same id 'u1'
DelayQueue\DuplicateJobException: items 500 and 501 have the same id 'g500' (jobs stored before: 500)
DelayQueue\DuplicateJobException: job 'g1' is already in queue '%s'
DelayQueue\DuplicateJobException: items 1 and 3 have the same id 'u1'%S
DelayQueue\DuplicateJobException: items 500 and 501 have the same id 'g500' (jobs stored before: 500)
DelayQueue\DuplicateJobException: job 'g1' is already in queue '%s'%S
