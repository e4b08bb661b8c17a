--TEST--
Job::update() refuses what cannot be stored, and a job that is not ours any more
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$queue = queue();
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
DelayQueue\PayloadException: A Closure cannot be a payload
DelayQueue\PayloadException: the payload of 1048578 bytes is larger than maxPayload (1048576 bytes)
DelayQueue\LeaseLostException: the lease of job 'gone' in queue 'a_payload_is_changed_by_the_holder_of_its_job_alone' is lost: its time ran out and it was taken back, or it was cancelled
bool(true)
DelayQueue\LeaseLostException: the lease of job 'gone' in queue 'a_payload_is_changed_by_the_holder_of_its_job_alone' is lost: it was cancelled or taken over
DelayQueue\LeaseLostException: the lease of job 'done' in queue 'a_payload_is_changed_by_the_holder_of_its_job_alone' is lost: it is settled already
TypeError: DelayQueue\Job::update(): Argument #1 ($payload) must be of type string, int given
DelayQueue\PayloadException: the payload of 11 bytes is larger than maxPayload (10 bytes)
string(2) "fe"
