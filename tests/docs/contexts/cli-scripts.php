<?php

/** Before the command: the user that may install scripts. */

$redis = new Redis();
$redis->connect((string) getenv('SESSION_SOCKET'));
$redis->rawCommand('ACL', ...explode(' ', 'SETUSER dqinstaller on >SECRET resetkeys resetchannels -@all +select +script|load')) || exit(1);
