--TEST--
Job::update() changes what the next attempt gets; release(countAttempt: false) leaves no attempt behind
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\Job;
$queue = queue();
$queue->push(['page' => 1], id: 'crawl', headers: ['trace' => 't1'], maxAttempts: 2);
$job = $queue->reserve();
$job->update(['page' => 2], ['trace' => 't2']);
echo json_encode([$job->payload, $job->body, $job->headers, $job->isSettled()]), "\n";
$job->release(countAttempt: false);
for ($n = 0; $n < 3; $n++) {
    $job = $queue->reserve();
    echo json_encode([$job->payload, $job->headers, $job->attempts]), "\n";
    $job->update(['page' => 3 + $n]);
    $job->release(0, null, false);
}
$info = $queue->peek('crawl');
echo json_encode([$info->payload, $info->headers, $info->attempts, $info->state]), "\n";
$job = $queue->reserve();
$job->release();
echo 'counted: ', $queue->peek('crawl')->attempts, "\n";

echo "-- in a loop\n";
$queue->consume(function (Job $job) use (&$seen) {
    $seen[] = [$job->payload, $job->attempts];
    if (count($seen) < 3) {
        $job->update(count($seen));
        $job->release(0, null, countAttempt: false);
    }
}, stopWhenEmpty: true);
echo json_encode($seen), "\n";

echo "-- not ours, not storable\n";
$queue->push(1, id: 'gone');
$job = $queue->reserve();
caught(fn () => $job->update(fn () => 1));
caught(fn () => $job->update(str_repeat('x', 1 << 20)));
$queue->cancel('gone');
caught(fn () => $job->update(2));
var_dump($job->isLost());
caught(fn () => $job->update(2));
$queue->push(1, id: 'done');
$job = $queue->reserve();
$job->ack();
caught(fn () => $job->update(2));
$raw = queue(['format' => 'raw', 'maxPayload' => 10], '-raw');
$raw->push("\xff");
$job = $raw->reserve();
caught(fn () => $job->update(1));
caught(fn () => $job->update('12345678901'));
$job->update("\xfe");
$job->release();
var_dump(bin2hex($raw->reserve()->payload));
?>
--EXPECT--
[{"page":1},"{\"page\":1}",{"trace":"t1"},false]
[{"page":2},{"trace":"t2"},1]
[{"page":3},{"trace":"t2"},1]
[{"page":4},{"trace":"t2"},1]
[{"page":5},{"trace":"t2"},0,"ready"]
counted: 1
-- in a loop
[[{"page":5},2],[1,2],[2,2]]
-- not ours, not storable
DelayQueue\PayloadException: A Closure cannot be a payload
DelayQueue\PayloadException: the payload of 1048578 bytes is larger than maxPayload (1048576 bytes)
DelayQueue\LeaseLostException: the lease of job 'gone' in queue 'a_job_in_hand_can_be_changed_and_given_back_uncounted' is lost: its time ran out and it was taken back, or it was cancelled
bool(true)
DelayQueue\LeaseLostException: the lease of job 'gone' in queue 'a_job_in_hand_can_be_changed_and_given_back_uncounted' is lost: it was cancelled or taken over
DelayQueue\LeaseLostException: the lease of job 'done' in queue 'a_job_in_hand_can_be_changed_and_given_back_uncounted' is lost: it is settled already
TypeError: DelayQueue\Job::update(): Argument #1 ($payload) must be of type string, int given
DelayQueue\PayloadException: the payload of 11 bytes is larger than maxPayload (10 bytes)
string(2) "fe"
