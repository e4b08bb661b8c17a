<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

/** The machine that is measured on. */
final class Machine
{
    /** @return array<string, string> */
    public static function describe(): array
    {
        $cpu = (string) file_get_contents('/proc/cpuinfo');
        preg_match('/^model name\s*: (.+)$/m', $cpu, $model);
        preg_match('/^(\w+) server v=(\S+)/', (string) shell_exec(escapeshellarg(RedisServer::binary()) . ' --version'), $server);

        return array_filter([
            'CPU' => sprintf('%s, %d cores', $model[1] ?? php_uname('m'), preg_match_all('/^processor\s*:/m', $cpu)),
            'kernel' => php_uname('s') . ' ' . php_uname('r'),
            'PHP' => PHP_VERSION,
            'server' => trim(($server[1] ?? '') . ' ' . ($server[2] ?? '')),
            'delayqueue' => (string) phpversion('delayqueue'),
        ]);
    }

    /**
     * Versions of Debian packages.
     *
     * @param list<string> $packages
     *
     * @return array<string, string>
     */
    public static function versions(array $packages): array
    {
        $versions = [];
        foreach ($packages as $package) {
            $version = trim((string) shell_exec("dpkg-query -W -f '\${Version}' " . escapeshellarg($package) . ' 2>/dev/null'));
            $versions[$package] = $version === '' ? 'unknown' : $version;
        }

        return $versions;
    }

    public static function load(): string
    {
        return implode(' ', array_map(static fn (float $load) => sprintf('%.1f', $load), sys_getloadavg()));
    }

    public static function freeMemoryGib(): float
    {
        preg_match('/^MemAvailable:\s+(\d+) kB/m', (string) file_get_contents('/proc/meminfo'), $found);

        return (int) ($found[1] ?? 0) / 2 ** 20;
    }

    /**
     * Picks the extensions that a PHP started with -n has to be told to load.
     *
     * @param list<string> $wanted
     *
     * @return list<string>
     */
    public static function sharedExtensions(array $wanted): array
    {
        exec(escapeshellarg(PHP_BINARY) . ' -n -m', $builtIn);

        return array_values(array_diff(array_filter($wanted, extension_loaded(...)), $builtIn));
    }
}
