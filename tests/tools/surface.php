<?php

/** Compares two public surfaces; used by the tests of the stub. */

declare(strict_types=1);

/** The surface of a stub file, or of the extension under test, read by a PHP of its own. */
function surface(?string $stub = null): array
{
    $reflect = __DIR__ . '/reflect.php';
    if ($stub === null) {
        $command = [PHP_BINARY, '-n', '-d', 'extension=' . getenv('DELAYQUEUE_TEST_EXTENSION'), $reflect];
    } else {
        $command = [PHP_BINARY, '-n', $reflect, $stub];
    }
    $process = proc_open($command, [1 => ['pipe', 'w']], $pipes);
    $json = stream_get_contents($pipes[1]);
    proc_close($process);
    return json_decode($json, true, 512, JSON_THROW_ON_ERROR);
}

/** Every place where two surfaces differ, one line each; with $additionsAreFine what only the second has is left out. */
function differences(array $expected, array $actual, bool $additionsAreFine = false, string $path = ''): array
{
    $lines = [];
    foreach ($expected as $key => $value) {
        $here = "$path/$key";
        if (!array_key_exists($key, $actual)) {
            $lines[] = "$here is missing";
        } elseif (is_array($value) && is_array($actual[$key])) {
            array_push($lines, ...differences($value, $actual[$key], $additionsAreFine, $here));
        } elseif ($value !== $actual[$key]) {
            $lines[] = "$here: expected " . json_encode($value) . ', got ' . json_encode($actual[$key]);
        }
    }
    if (!$additionsAreFine) {
        foreach (array_diff_key($actual, $expected) as $key => $value) {
            $lines[] = "$path/$key is unexpected";
        }
    }
    return $lines;
}
