<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Support;

use RuntimeException;

/** How long this machine has stood still, so that tests which measure time can allow for it. */
final class Machine
{
    /** Wakes itself every 5 ms, and writes when it was woken too late, with the sum so far, until its input ends. */
    private const PROBE = <<<'PHP'
        $stalls = 0.0;
        for ($log = fopen($argv[1], 'ab'); ; ) {
            $asleep = microtime(true);
            $input = [STDIN];
            $none = null;
            if (stream_select($input, $none, $none, 0, 5_000) !== 0) {
                exit;
            }
            $late = microtime(true) - $asleep - 0.005;
            if ($late > 0.001) {
                fwrite($log, pack('dd', microtime(true), $stalls += $late));
            }
        }
        PHP;

    private const RECORD = 16;

    private static ?self $shared = null;

    /** @var resource */
    private $log;

    /** @var resource the probe; its input ends with it */
    private $probe;

    private function __construct()
    {
        $file = (string) tempnam(sys_get_temp_dir(), 'dq-stalls-');
        $null = ['file', '/dev/null', 'a'];
        $probe = proc_open([PHP_BINARY, '-n', '-r', self::PROBE, $file], [['pipe', 'r'], $null, $null], $pipes);
        $log = fopen($file, 'rb');
        if ($probe === false || $log === false) {
            throw new RuntimeException('cannot watch the machine');
        }
        $this->log = $log;
        $this->probe = $probe;
        register_shutdown_function(static fn () => @unlink($file));
    }

    /** Begins to watch: what a test measures has to begin later. */
    public static function watch(): void
    {
        self::$shared ??= new self();
    }

    /** Seconds since this moment of microtime(true), without those in which the machine stood still. */
    public static function lasted(float $moment): float
    {
        return microtime(true) - $moment - self::stallsSince($moment);
    }

    /** What remains of seconds that ended just now, without those in which the machine stood still. */
    public static function without(float $seconds): float
    {
        return self::lasted(microtime(true) - $seconds);
    }

    /** Seconds for which a timer was woken too late since this moment of microtime(true), all in all. */
    public static function stallsSince(float $moment): float
    {
        self::watch();

        return self::$shared->sumSince($moment);
    }

    private function sumSince(float $moment): float
    {
        clearstatcache();
        $records = intdiv((int) fstat($this->log)['size'], self::RECORD);
        if ($records === 0) {
            return 0.0;
        }
        [$low, $high] = [0, $records];
        while ($low < $high) {
            $middle = intdiv($low + $high, 2);
            [$low, $high] = $this->record($middle)[0] <= $moment ? [$middle + 1, $high] : [$low, $middle];
        }

        return $this->record($records - 1)[1] - ($low === 0 ? 0.0 : $this->record($low - 1)[1]);
    }

    /** @return array{float, float} when a timer was late, and by how much all of them were until then */
    private function record(int $number): array
    {
        fseek($this->log, $number * self::RECORD);

        return array_values((array) unpack('d2', (string) fread($this->log, self::RECORD)));
    }
}
