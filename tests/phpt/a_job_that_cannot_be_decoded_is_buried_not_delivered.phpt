--TEST--
A job whose body is not JSON is buried with that reason; reserve() goes on to the next, and a loop tells its listeners and no handler
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$raw = queue(['format' => 'raw']);
$json = queue();
$raw->push('{"broken":', id: 'a');
$raw->push("\xff", id: 'b');
$json->push('good', id: 'c');
$raw->push('', id: 'd');
$job = $json->reserve();
var_dump($job->id, $job->payload);
$job->ack();
var_dump($json->reserve(), $json->reserve(0.05));
foreach ($json->list(DelayQueue\State::Buried) as $info) {
    echo $info->id, ': ', $info->lastError, ' payload=', json_encode($info->payload), ' body=', bin2hex($info->body), "\n";
}
$raw->push('[', id: 'e');
$raw->push('[1]', id: 'f');
$raw->push(']', id: 'g');
var_dump(array_map(fn($job) => $job->id, $json->reserveMany(10)), $json->reserveJob('a'), $json->peek('a')->buries);
// Read as raw bytes they are jobs like any other.
var_dump($raw->reserveJob('a')->payload);
$raw->purge();

$raw->pushMany([['payload' => '{', 'id' => 'bad'], ['payload' => '[1]', 'id' => 'good']]);
foreach (DelayQueue\Event::cases() as $event) {
    $json->on($event, function (DelayQueue\Event $event, ?DelayQueue\Job $job, ?Throwable $error) {
        echo trim("$event->name $job?->id " . ($error === null ? '' : $error::class . ': ' . $error->getMessage())), "\n";
        if ($event === DelayQueue\Event::Buried) {
            var_dump($job->payload, $job->body, $job->isSettled());
        }
    });
}
echo $json->drain(fn ($job) => print("handler $job->id\n")), "\n";
echo $json->peekBuried()->lastError, "\n";
?>
--EXPECT--
string(1) "c"
string(4) "good"
NULL
NULL
a: payload is not valid JSON: Syntax error payload=null body=7b2262726f6b656e223a
b: payload is not valid JSON: Malformed UTF-8 characters, possibly incorrectly encoded payload=null body=ff
d: payload is not valid JSON: Syntax error payload=null body=
array(1) {
  [0]=>
  string(1) "f"
}
NULL
int(2)
string(10) "{"broken":"
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
