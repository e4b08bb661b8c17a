--TEST--
lastError hides the passwords in the message of every exception, also those of URLs that nobody has encoded
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\{Bury, Release};
$queue = queue();
$queue->push(1, id: 'j');
$told = function (callable $handler) use ($queue): string {
    $queue->kickJob('j');
    $queue->consume($handler, maxJobs: 1);
    return strtok($queue->peek('j')->lastError, "\n");
};
$texts = [
    'cannot use redis://u:S3cr3t@h:6379/0',
    'cannot use redis+sentinel://bob:S3cr3t@s1,s2/m/0?sentinel_user=u&sentinel_password=S3cr3t&x=1 here',
    'mysql://u:ab@S3cr3t@db/x',
    'redis://:p@S3cr3t@h:6379/0',
    'smtp://u:ab S3cr3t@h and more',
    'from a://u:S3cr3t@h to b://v:S3cr3t@i, or c://w:S3cr3t@j,d://x:S3cr3t@k',
    'from http://h:80 to redis://u:S3cr3t@h',
    'SENTINEL_PASSWORD=S3cr3t and "password=S3cr3t" and password= none',
    // Nothing to hide.
    'http://h:80/path says: ask admin@example.org',
    'http://h:8080: ask admin@example.org',
    'ask admin@example.org, see https://h/@user',
];
foreach ($texts as $text) {
    echo $told(fn () => throw new Exception($text)), "\n";
}
echo $told(fn () => throw new Bury($texts[0])), "\n";
echo $told(fn () => throw new Release('1h', $texts[0])), "\n";
$queue->purge();
?>
--EXPECT--
Exception: cannot use redis://u:***@h:6379/0
Exception: cannot use redis+sentinel://bob:***@s1,s2/m/0?sentinel_user=u&sentinel_password=***&x=1 here
Exception: mysql://u:***@db/x
Exception: redis://:***@h:6379/0
Exception: smtp://u:***@h and more
Exception: from a://u:***@h to b://v:***@i, or c://w:***@j,d://x:***@k
Exception: from http://h:80 to redis://u:***@h
Exception: SENTINEL_PASSWORD=*** and "password=***" and password= none
Exception: http://h:80/path says: ask admin@example.org
Exception: http://h:8080: ask admin@example.org
Exception: ask admin@example.org, see https://h/@user
cannot use redis://u:***@h:6379/0
cannot use redis://u:***@h:6379/0
