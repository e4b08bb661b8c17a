<?php

/**
 * Counts the source files that a call passes: those of src/ whose code runs, as callgrind sees it, and those of lua/ to which Redis comes. Each call
 * is made once before it is counted, so that opening a connection and loading a script are no part of it. On a busy machine the loop lasts for more
 * than a second, so that its keeper connects and enters the list of workers as well.
 *
 *     cargo build --locked
 *     php -n bench/walks.php target/debug/libdelayqueue.so [--list]
 */

declare(strict_types=1);

use DelayQueue\Bench\Callgrind;
use DelayQueue\Tests\Support\Folder;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\RedisServer;

require __DIR__ . '/autoload.php';

const ROOT = __DIR__ . '/..';

$walks = [
    'push' => static fn (DelayQueue $queue) => $queue->push(['n' => 1], delay: 60),
    'reserve + ack' => static fn (DelayQueue $queue) => $queue->reserve()?->ack(),
    'consume' => static fn (DelayQueue $queue) => $queue->consume(static function (): void {
    }, maxJobs: 1),
];

if ($argv[1] === 'walk') {
    $queue = new DelayQueue('walks', $argv[3], ['readTimeout' => 60]);
    $queue->pushMany(array_map(static fn (int $n) => ['payload' => $n], range(1, 3)));
    $walks[$argv[2]]($queue);
    echo "ready\n";
    fgets(STDIN);
    $walks[$argv[2]]($queue);
    echo "done\n";
    fgets(STDIN);
    exit;
}

/** Scripts that say in the log of Redis where it comes to each of their files: a debug build takes them from here. */
function talkingScripts(string $folder): void
{
    mkdir("$folder/lib");
    foreach ([...glob(ROOT . '/lua/*.lua'), ...glob(ROOT . '/lua/lib/*.lua')] as $path) {
        $name = substr($path, strlen(ROOT . '/lua/'));
        file_put_contents("$folder/$name", "redis.log(redis.LOG_WARNING, 'passes lua/$name')\n" . file_get_contents($path));
    }
}

/** @return list<string> files of src/ that have lines with a cost in the newest dump */
function filesRun(string $folder): array
{
    $dumps = glob("$folder/callgrind.*");
    [$names, $files, $current] = [[], [], null];
    foreach (file(end($dumps), FILE_IGNORE_NEW_LINES) as $line) {
        if (preg_match('/^c?(?:fl|fi|fe)=\((\d+)\)(?: (.+))?$/', $line, $found)) {
            $names[$found[1]] ??= $found[2] ?? '';
            $current = $line[0] === 'c' ? $current : $names[$found[1]];
        } elseif ($current !== null && preg_match('/^[+\-*\d]/', $line) && preg_match('~\bsrc/(core|php)/.*\.rs$~', $current, $found)) {
            $files[] = $found[0];
        }
    }
    $files = array_values(array_unique($files));
    sort($files);

    return $files;
}

[, $extension] = $argv;
foreach (array_keys($walks) as $walk) {
    [$folder, $scripts, $server] = [new Folder(), new Folder(), new RedisServer()];
    talkingScripts($scripts->path);
    chdir($folder->path);
    $command = [...Callgrind::under($folder->path), PHP_BINARY, '-n', '-d', 'extension=' . realpath(ROOT . "/$extension"), __FILE__, 'walk', $walk, $server->dsn()];
    $child = new Process(['env', "DELAYQUEUE_LUA_DIR=$scripts->path", ...$command]);
    $child->hear('ready', 120);
    $log = $server->folder->path . '/redis.log';
    $before = filesize($log);
    $callgrind = Callgrind::of($child->pid);
    $callgrind->start();
    $child->say('go');
    $child->hear('done', 120);
    $callgrind->stop();
    preg_match_all('/passes (\S+)$/m', file_get_contents($log, offset: $before), $passed);
    $files = [...filesRun($folder->path), ...array_unique($passed[1])];
    $count = static fn (string $begin) => count(array_filter($files, static fn (string $file) => str_starts_with($file, $begin)));
    printf("%-14s %3d files: src/php %d, src/core %d, lua %d\n", $walk, count($files), $count('src/php'), $count('src/core'), $count('lua'));
    if (($argv[2] ?? '') === '--list') {
        echo '    ', implode("\n    ", $files), "\n";
    }
    $child->say('end');
    $server->remove();
    $scripts->remove();
    $folder->remove();
}
