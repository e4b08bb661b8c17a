<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database\Support;

use RuntimeException;

/** MySQL itself; MariaDB's mysqld is none. */
final class MysqlServer extends MysqlFamily
{
    /** The path of its mysqld, or null where there is none. */
    public static function program(): ?string
    {
        $named = (string) getenv('MYSQL_SERVER');
        if ($named !== '') {
            return $named;
        }
        $found = self::find('mysqld');

        return $found === null || str_contains((string) shell_exec(escapeshellarg($found) . ' --no-defaults --version'), 'MariaDB') ? null : $found;
    }

    public function name(): string
    {
        return 'mysql';
    }

    protected function script(): string
    {
        $program = self::program() ?? throw new RuntimeException('no MySQL server here: set MYSQL_SERVER to the path of its mysqld');
        [$server, $settings] = [escapeshellarg($program), self::SETTINGS . ' --innodb-redo-log-capacity=32M --performance-schema=OFF'];

        return "[ -d data ] || $server $settings --initialize-insecure\n"
            . "exec $server $settings " . self::SERVER_SETTINGS . ' --mysqlx=OFF --secure-file-priv=NULL';
    }
}
