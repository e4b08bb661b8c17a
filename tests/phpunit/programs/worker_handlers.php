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
// The masks that the kernel knows: caught, ignored.
$known = static fn (): array => preg_grep('/^Sig(Cgt|Ign|Blk)/', file('/proc/self/status'));
$before = [$handlers(), $known()];
echo "ready\n";
$reason = (new DelayQueue($argv[2], $argv[1]))->consume(static fn () => null, idleTimeout: 60);
echo "stopped $reason->name\n";
echo [$handlers(), $known()] == $before ? "same handlers\n" : print_r([$before, [$handlers(), $known()]], true);
while (true) {
    usleep(10_000);
}
