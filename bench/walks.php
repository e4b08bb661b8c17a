<?php

/**
 * Counts the source files that a call passes: those of src/ whose code runs, as callgrind sees it, and those of lua/ in the scripts that it sends,
 * whether Redis comes to them or not. Each call is made once before it is counted, so that opening a connection and loading a script are no part
 * of it. On a busy machine the loop lasts for more than a second, so that its keeper connects and enters the list of workers as well.
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

/** @return list<string> the lines of a script that are sent */
function code(string $text): array
{
    $lines = array_map(trim(...), explode("\n", $text));

    return array_values(array_filter($lines, static fn (string $line) => $line !== '' && !str_starts_with($line, '--')));
}

/** @return list<string> the files of lua/ of which a script that was sent is made */
function filesOf(string $script): array
{
    $lines = array_flip(code($script));
    $isIn = static fn (string $path) => array_diff_key(array_flip(code(file_get_contents($path))), $lines) === [];
    $files = array_filter([...glob(ROOT . '/lua/*.lua'), ...glob(ROOT . '/lua/lib/*.lua')], $isIn);

    return array_map(static fn (string $path) => substr($path, strlen(ROOT . '/')), array_values($files));
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
    $folder = new Folder();
    $server = new RedisServer();
    $monitor = stream_socket_client("unix://$server->socket");
    fwrite($monitor, "MONITOR\r\n");
    stream_set_blocking($monitor, false);
    chdir($folder->path);
    $command = [...Callgrind::under($folder->path), PHP_BINARY, '-n', '-d', 'extension=' . realpath(ROOT . "/$extension"), __FILE__, 'walk', $walk, $server->dsn()];
    $child = new Process($command);
    $child->hear('ready', 120);
    $loaded = stream_get_contents($monitor);
    $callgrind = Callgrind::of($child->pid);
    $callgrind->start();
    $child->say('go');
    $child->hear('done', 120);
    $callgrind->stop();
    $monitored = stream_get_contents($monitor);
    preg_match_all('/"EVAL" "((?:[^"\\\\]++|\\\\.)*+)"/', $loaded . $monitored, $texts);
    preg_match_all('/"EVALSHA" "(\w+)"/', $monitored, $sent);
    $scripts = array_map(stripcslashes(...), array_unique($texts[1]));
    $ran = array_filter($scripts, static fn (string $script) => in_array(sha1($script), $sent[1], true));
    $files = [...filesRun($folder->path), ...array_unique(array_merge(...array_map(filesOf(...), array_values($ran))))];
    $count = static fn (string $begin) => count(array_filter($files, static fn (string $file) => str_starts_with($file, $begin)));
    printf("%-14s %3d files: src/php %d, src/core %d, lua %d\n", $walk, count($files), $count('src/php'), $count('src/core'), $count('lua'));
    if (($argv[2] ?? '') === '--list') {
        echo '    ', implode("\n    ", $files), "\n";
    }
    $child->say('end');
    $server->remove();
    $folder->remove();
}
