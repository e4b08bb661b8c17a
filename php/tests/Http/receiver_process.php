<?php

/** The program of Receiver: an HTTP server on loopback that reads how to answer from its standard input, and ends with it. */

declare(strict_types=1);

/** A line for the test. */
function tell(array $what): void
{
    fwrite(STDOUT, json_encode($what, JSON_THROW_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE) . "\n");
}

/** @return array{method: string, path: string, headers: array<string, string>, body: string}|null null: not all of it is there */
function request(string $bytes): ?array
{
    if (!preg_match('~^(\S+) (\S+) HTTP/1\.[01]\r\n(.*?)\r\n\r\n(.*)$~Ds', $bytes, $match)) {
        return null;
    }
    [, $method, $path, $lines, $body] = $match;
    $headers = [];
    foreach (explode("\r\n", $lines) as $line) {
        [$name, $value] = explode(':', $line, 2);
        $headers[strtolower($name)] = trim($value);
    }

    return strlen($body) < (int) ($headers['content-length'] ?? 0) ? null : compact('method', 'path', 'headers', 'body');
}

$context = stream_context_create($argv[1] === '' ? [] : ['ssl' => ['local_cert' => $argv[1]]]);
$server = stream_socket_server('tcp://127.0.0.1:0', context: $context);
tell(['port' => (int) substr((string) strrchr(stream_socket_get_name($server, false), ':'), 1)]);

$answers = [[200]];
$accepted = 0;
$open = $received = [];
/** @var array<int, string> $unending what is written to a connection again and again */
$unending = [];

while (true) {
    $read = [STDIN, $server, ...$open];
    $fast = array_filter($unending, static fn (string $bytes): bool => strlen($bytes) > 1);
    [$write, $none] = [array_intersect_key($open, $fast), []];
    stream_select($read, $write, $none, 0, 100_000);
    foreach ($unending as $id => $bytes) {
        if ((isset($write[$id]) || strlen($bytes) === 1) && @fwrite($open[$id], $bytes) === false) {
            unset($open[$id], $unending[$id]);
        }
    }
    if (in_array(STDIN, $read, true)) {
        $line = fgets(STDIN);
        if ($line === false) {
            exit;
        }
        $answers = $line === "connections\n" ? $answers : json_decode($line, true);
        tell(['connections' => $accepted]);
    }
    if (in_array($server, $read, true)) {
        $connection = stream_socket_accept($server);
        $accepted++;
        if ($argv[1] === '' || @stream_socket_enable_crypto($connection, true, STREAM_CRYPTO_METHOD_TLS_SERVER)) {
            stream_set_blocking($connection, false);
            $open[(int) $connection] = $connection;
            $received[(int) $connection] = '';
        }
    }
    foreach (array_intersect($open, $read) as $id => $connection) {
        $bytes = (string) fread($connection, 65_536);
        if ($bytes === '' && feof($connection)) {
            unset($open[$id], $unending[$id]);
            continue;
        }
        $received[$id] .= $bytes;
        $request = isset($unending[$id]) ? null : request($received[$id]);
        if ($request === null) {
            continue;
        }
        $received[$id] = '';
        tell($request);
        [$status, $headers, $body] = (count($answers) > 1 ? array_shift($answers) : $answers[0]) + [1 => [], 2 => ''];
        if (is_int($status)) {
            $isWhole = !in_array($body, ['endless', 'slow', 'hang'], true);
            $lines = "HTTP/1.1 $status Whatever\r\n";
            foreach ($headers + ($isWhole ? ['Content-Length' => strlen($body)] : []) + ['Connection' => 'close'] as $name => $value) {
                $lines .= "$name: $value\r\n";
            }
            stream_set_blocking($connection, true);
            fwrite($connection, "$lines\r\n" . ($isWhole ? $body : ''));
            stream_set_blocking($connection, false);
            if (!$isWhole) {
                $unending += $body === 'hang' ? [] : [$id => $body === 'slow' ? '.' : str_repeat('endless ', 8192)];
                continue;
            }
        }
        if ($status !== 'hang') {
            fclose($connection);
            unset($open[$id]);
        }
    }
}
