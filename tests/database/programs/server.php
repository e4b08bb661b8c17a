<?php

/** Starts a server, says its process id and its folder, and goes on for as long as it is told to: server.php NAME [SUPPORT-FOLDER]. */

declare(strict_types=1);

use DelayQueue\Tests\Database\Support\DatabaseServer;

[, $name, $support] = $argv + [2 => dirname(__DIR__) . '/support'];
require "$support/autoload.php";

$server = DatabaseServer::named($name);
echo json_encode(['pid' => $server->pid(), 'folder' => $server->folder()]), "\n";
while (($order = fgets(STDIN)) !== false) {
    if ($order === "fork\n") {
        // The child ends as a program does, with its shutdown functions and destructors.
        $child = pcntl_fork();
        if ($child === 0) {
            exit(0);
        }
        pcntl_waitpid($child, $status);
    }
    echo $server->pdo()->query('SELECT 4711')->fetchColumn(), "\n";
}
