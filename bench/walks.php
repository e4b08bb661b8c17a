<?php

/**
 * Counts the source files that a call passes: those of src/ whose code runs, as callgrind sees it, and those of lua/ in the scripts that it sends.
 * Each call is made once before it is counted, so that opening a connection and loading a script are no part of it.
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
    $queue = new DelayQueue('walks', $argv[3]);
    $queue->pushMany(array_map(static fn (int $n) => ['payload' => $n], range(1, 3)));
    $walks[$argv[2]]($queue);
    echo "ready\n";
    fgets(STDIN);
    $walks[$argv[2]]($queue);
    echo "done\n";
    fgets(STDIN);
    exit;
}

/** @return array{string, list<string>} a script as src/core/scripts.rs sends it, and its files */
function assembled(string $file, bool $isOutermost, array &$included): array
{
    [$source, $files] = ['', [$file]];
    foreach (file(ROOT . "/lua/$file.lua", FILE_IGNORE_NEW_LINES) as $line) {
        $code = ltrim($line);
        if (!str_starts_with($code, '--@include ')) {
            $source .= $code === '' || str_starts_with($code, '--') ? '' : "$code\n";
            continue;
        }
        $name = trim(substr($code, strlen('--@include ')));
        if (in_array($name, $included, true)) {
            continue;
        }
        $staysSeen = $isOutermost && $code === $line;
        if ($staysSeen) {
            $included[] = $name;
        }
        [$fragment, $more] = assembled("lib/$name", $staysSeen, $included);
        $source .= $fragment;
        array_push($files, ...$more);
    }

    return [$source, $files];
}

/** @return array<string, list<string>> the files of each script, by the name under which Redis knows it */
function scripts(): array
{
    $scripts = [];
    foreach (glob(ROOT . '/lua/*.lua') as $path) {
        $included = [];
        [$source, $files] = assembled(basename($path, '.lua'), true, $included);
        $scripts[sha1($source)] = array_map(static fn (string $file) => "lua/$file.lua", array_values(array_unique($files)));
    }

    return $scripts;
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
$scripts = scripts();
foreach (array_keys($walks) as $walk) {
    $folder = new Folder();
    $server = new RedisServer();
    $monitor = stream_socket_client("unix://$server->socket");
    chdir($folder->path);
    $command = [...Callgrind::under($folder->path), PHP_BINARY, '-n', '-d', 'extension=' . realpath(ROOT . "/$extension"), __FILE__, 'walk', $walk, $server->dsn()];
    $child = new Process($command);
    $child->hear('ready', 120);
    fwrite($monitor, "MONITOR\r\n");
    fgets($monitor);
    $callgrind = Callgrind::of($child->pid);
    $callgrind->start();
    $child->say('go');
    $child->hear('done', 120);
    $callgrind->stop();
    stream_set_blocking($monitor, false);
    preg_match_all('/"EVALSHA" "(\w+)"/i', stream_get_contents($monitor), $sent);
    $files = [...filesRun($folder->path), ...array_unique(array_merge(...array_map(static fn (string $sha) => $scripts[$sha], $sent[1])))];
    $count = static fn (string $begin) => count(array_filter($files, static fn (string $file) => str_starts_with($file, $begin)));
    printf("%-14s %3d files: src/php %d, src/core %d, lua %d\n", $walk, count($files), $count('src/php'), $count('src/core'), $count('lua'));
    if (($argv[2] ?? '') === '--list') {
        echo '    ', implode("\n    ", $files), "\n";
    }
    $child->say('end');
    $server->remove();
    $folder->remove();
}
