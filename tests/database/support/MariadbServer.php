<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database\Support;

use RuntimeException;

final class MariadbServer extends MysqlFamily
{
    public function name(): string
    {
        return 'mariadb';
    }

    protected function script(): string
    {
        $server = self::find('mariadbd');
        $install = self::find('mariadb-install-db');
        if ($server === null || $install === null) {
            throw new RuntimeException('no MariaDB server here: run ./build.sh setup');
        }
        [$server, $install, $settings] = [escapeshellarg($server), escapeshellarg($install), self::SETTINGS . ' --innodb-log-file-size=16M'];

        return "[ -d data ] || $install $settings --auth-root-authentication-method=normal --skip-test-db --skip-name-resolve\n"
            . "exec $server $settings " . self::SERVER_SETTINGS;
    }
}
