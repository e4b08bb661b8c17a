<?php

/**
 * A worker with a SIGTERM handler of its own, which is there before, while and after it works.
 *
 *     worker_handlers.php DSN QUEUE
 */

declare(strict_types=1);

pcntl_async_signals(true);
pcntl_signal(SIGTERM, static function (): void {
    echo "user handler\n";
});
$handlers = static fn (): array => array_map(pcntl_signal_get_handler(...), [SIGTERM, SIGINT, SIGQUIT, SIGUSR2, SIGCONT]);
// The masks that the kernel knows: caught, ignored. Less 32 and 33, which the C library takes for itself once there is a second thread.
$known = static function (): array {
    preg_match_all('/^Sig(?:Cgt|Ign|Blk):\s*(\w+)/m', file_get_contents('/proc/self/status'), $masks);

    return array_map(static fn (string $mask): int => (int) hexdec($mask) & ~(3 << 31), $masks[1]);
};
$before = [$handlers(), $known()];
echo "ready\n";
$reason = (new DelayQueue($argv[2], $argv[1]))->consume(static fn () => null, idleTimeout: 60);
echo "stopped $reason->name\n";
echo [$handlers(), $known()] == $before ? "same handlers\n" : print_r([$before, [$handlers(), $known()]], true);
while (true) {
    usleep(10_000);
}
