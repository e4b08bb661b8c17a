--TEST--
A loop tells its listeners of a job that cannot be decoded: buried, its handler was not called
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\Event;

queue(['format' => 'raw'])->pushMany([['payload' => '{', 'id' => 'bad'], ['payload' => '[1]', 'id' => 'good']]);
$queue = queue();
foreach (Event::cases() as $event) {
    $queue->on($event, function (Event $event, ?DelayQueue\Job $job, ?Throwable $error) {
        echo $event->name, ' ', $job?->id, ' ', $error === null ? '' : $error::class . ': ' . $error->getMessage(), "\n";
        if ($event === Event::Buried) {
            var_dump($job->payload, $job->body, $job->isSettled());
        }
    });
}
echo $queue->drain(fn ($job) => print("handler $job->id\n")), "\n";
echo $queue->peekBuried()->lastError, "\n";
$queue->purge();
?>
--EXPECT--
WorkerStarting  
WorkerReady  
Buried bad DelayQueue\PayloadException: payload is not valid JSON: Syntax error
NULL
string(1) "{"
bool(true)
Processing good 
handler good
Succeeded good 
WorkerStopping  
1
payload is not valid JSON: Syntax error
