<?php

/** Before each command: a queue, and a receipt of a load on the new host, which is another database of the same server here. */

(new DelayQueue('mails'))->push(['to' => 'ann'], delay: '15m');
$newHost = preg_replace('~/0$~', '/1', (string) getenv('DELAYQUEUE_DSN'));
(new DelayQueue('mails', $newHost))->pushOnce([['receipt' => 'load/0123456789abcdef']]);
