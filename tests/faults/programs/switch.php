<?php

/**
 * The network between hosts. It listens at the ports under which servers are known and hands bytes on to those at which they are. A client is
 * known by the address it comes from. Commands, a line of JSON each, are answered by "ok":
 *
 *     ["link", FRONT, BACK, HOST]      a server of this host
 *     ["part", [HOST, …], [HOST, …]]   nothing gets from one side to the other, and nobody is told; new connections are accepted and silent
 *     ["slow", MILLISECONDS]           one byte of a reply at a time, so long apart
 *     ["cut", BYTES]                   each connection is closed after so many bytes of replies more, once
 *     ["drop"]                         connections between parted sides end, and what was held back is lost
 *     ["join"]                         what was held back goes on its way, and everything after
 */

declare(strict_types=1);

/** Hosts by the address from which their processes connect. */
const CLIENT = 'client';
$hosts = ['127.0.0.1' => CLIENT];
foreach (range(1, 9) as $n) {
    $hosts["127.0.1.$n"] = "box$n";
}
/** @var array<int, array{resource, int, string}> listeners: socket, port behind, host */
$links = [];
/** @var array<int, array{a: resource, b: resource, from: string, to: string, ab: string, ba: string, left: ?int}> */
$pairs = [];
$parted = [];
$slow = 0;
$cut = null;
stream_set_blocking(STDIN, false);
echo "ready\n";

$isParted = static function (string $a, string $b) use (&$parted): bool {
    foreach ($parted as [$one, $other]) {
        if ((in_array($a, $one, true) && in_array($b, $other, true)) || (in_array($b, $one, true) && in_array($a, $other, true))) {
            return true;
        }
    }

    return false;
};
$close = static function (int $key) use (&$pairs): void {
    @fclose($pairs[$key]['a']);
    @fclose($pairs[$key]['b']);
    unset($pairs[$key]);
};
$flush = static function (int $key) use (&$pairs, &$slow, $isParted, $close): void {
    $pair = &$pairs[$key];
    if ($isParted($pair['from'], $pair['to'])) {
        return;
    }
    foreach (['ab' => 'b', 'ba' => 'a'] as $buffer => $side) {
        if ($pair[$buffer] === '') {
            continue;
        }
        $bytes = $slow > 0 && $buffer === 'ba' ? $pair[$buffer][0] : $pair[$buffer];
        if ($buffer === 'ba' && $pair['left'] !== null) {
            $bytes = substr($bytes, 0, $pair['left']);
        }
        $written = $bytes === '' ? 0 : @fwrite($pair[$side], $bytes);
        if ($written === false) {
            $close($key);

            return;
        }
        $pair[$buffer] = substr($pair[$buffer], $written);
        if ($buffer === 'ba' && $pair['left'] !== null && ($pair['left'] -= $written) <= 0) {
            $close($key);

            return;
        }
    }
};

while (true) {
    $read = [STDIN, ...array_column($links, 0)];
    foreach ($pairs as $pair) {
        // Bytes that nobody reads stay with the sender, as in a network that loses packets.
        if (!$isParted($pair['from'], $pair['to'])) {
            strlen($pair['ab']) < 1 << 20 && $read[] = $pair['a'];
            strlen($pair['ba']) < 1 << 20 && $read[] = $pair['b'];
        }
    }
    $write = $except = [];
    $pending = array_filter($pairs, static fn (array $pair) => ($pair['ab'] !== '' || $pair['ba'] !== '') && !$isParted($pair['from'], $pair['to']));
    if (@stream_select($read, $write, $except, $pending ? 0 : 10, $pending ? max(1, $slow) * 1000 : 0) === false) {
        continue;
    }
    foreach ($read as $stream) {
        if ($stream === STDIN) {
            while (($line = fgets(STDIN)) !== false) {
                [$what, $one, $two, $three] = json_decode($line, true) + [null, null, null, null];
                if ($what === 'link') {
                    $links[$one] = [stream_socket_server("tcp://127.0.0.1:$one"), $two, $three];
                } elseif ($what === 'part') {
                    $parted[] = [$one, $two];
                } elseif ($what === 'slow') {
                    $slow = $one;
                } elseif ($what === 'cut') {
                    foreach ($pairs as &$pair) {
                        $pair['left'] = $one;
                    }
                    unset($pair);
                } elseif ($what === 'drop') {
                    foreach ($pairs as $key => $pair) {
                        $isParted($pair['from'], $pair['to']) && $close($key);
                    }
                } else {
                    [$parted, $slow] = [[], 0];
                }
                echo "ok\n";
            }
            feof(STDIN) && exit(0);
            continue;
        }
        foreach ($links as [$listener, $back, $host]) {
            if ($stream === $listener) {
                $a = stream_socket_accept($listener, 0, $peer);
                $b = $a === false ? false : @stream_socket_client("tcp://127.0.0.1:$back", $code, $message, 1);
                if ($b === false) {
                    $a === false || fclose($a);
                    continue 2;
                }
                stream_set_blocking($a, false);
                stream_set_blocking($b, false);
                $from = $hosts[strtok((string) $peer, ':')] ?? CLIENT;
                $pairs[(int) $a] = ['a' => $a, 'b' => $b, 'from' => $from, 'to' => $host, 'ab' => '', 'ba' => '', 'left' => null];
                continue 2;
            }
        }
        foreach ($pairs as $key => $pair) {
            if ($stream === $pair['a'] || $stream === $pair['b']) {
                $bytes = (string) @fread($stream, 65536);
                if ($bytes === '' && feof($stream)) {
                    $flush($key);
                    isset($pairs[$key]) && $close($key);
                } else {
                    $pairs[$key][$stream === $pair['a'] ? 'ab' : 'ba'] .= $bytes;
                }
                break;
            }
        }
    }
    foreach (array_keys($pairs) as $key) {
        $flush($key);
    }
}
