<?php

/**
 * Hands bytes on between clients and a Redis, both on Unix sockets, and keeps them back when told to.
 *
 *     relay.php LISTEN TARGET
 *
 * Commands, one a line: hold requests · hold replies · pass · cut. Answers: ok and the command; 'holding' once
 * something is kept back. A client that closes takes what it had sent with it, as a process does that is killed.
 */

declare(strict_types=1);

[, $listen, $target] = $argv;
$server = stream_socket_server("unix://$listen") ?: exit(1);
$hold = '';
/** @var array<int, array{client: resource, redis: resource, requests: string, replies: string}> */
$pairs = [];
stream_set_blocking(STDIN, false);
echo "listening\n";

$close = static function (int $key) use (&$pairs): void {
    @fclose($pairs[$key]['client']);
    @fclose($pairs[$key]['redis']);
    unset($pairs[$key]);
};

/** Writes what may pass; false when the other side is gone. */
$flush = static function (int $key) use (&$pairs, &$hold): bool {
    foreach (['requests' => 'redis', 'replies' => 'client'] as $what => $side) {
        $bytes = &$pairs[$key][$what];
        while ($bytes !== '' && $hold !== $what) {
            $written = @fwrite($pairs[$key][$side], $bytes);
            if ($written === false) {
                return false;
            }
            $bytes = substr($bytes, $written);
            if ($written === 0) {
                usleep(500);
            }
        }
        unset($bytes);
    }

    return true;
};

while (true) {
    $read = [STDIN, $server];
    foreach ($pairs as $pair) {
        array_push($read, $pair['client'], $pair['redis']);
    }
    $write = $except = [];
    if (@stream_select($read, $write, $except, 10) === false) {
        continue;
    }
    foreach ($read as $stream) {
        if ($stream === STDIN) {
            $command = fgets(STDIN);
            if ($command === false) {
                feof(STDIN) && exit(0);
                continue;
            }
            $command = trim($command);
            $hold = str_starts_with($command, 'hold ') ? substr($command, 5) : '';
            foreach (array_keys($pairs) as $key) {
                $command === 'cut' || !$flush($key) ? $close($key) : null;
            }
            echo "ok $command\n";
        } elseif ($stream === $server) {
            $client = stream_socket_accept($server);
            $redis = @stream_socket_client("unix://$target");
            if ($redis === false) {
                fclose($client);
                continue;
            }
            stream_set_blocking($client, false);
            stream_set_blocking($redis, false);
            $pairs[(int) $client] = ['client' => $client, 'redis' => $redis, 'requests' => '', 'replies' => ''];
        } else {
            foreach ($pairs as $key => $pair) {
                $what = match ($stream) {
                    $pair['client'] => 'requests',
                    $pair['redis'] => 'replies',
                    default => null,
                };
                if ($what === null) {
                    continue;
                }
                $bytes = (string) @fread($stream, 65536);
                if ($bytes === '' && feof($stream)) {
                    $close($key);
                    break;
                }
                $pairs[$key][$what] .= $bytes;
                if ($bytes !== '' && $hold === $what) {
                    echo "holding\n";
                }
                if (!$flush($key)) {
                    $close($key);
                }
                break;
            }
        }
    }
}
