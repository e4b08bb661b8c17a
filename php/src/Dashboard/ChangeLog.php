<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard;

use Psr\Log\LoggerInterface;

/** Writes a line for each change, with the user: new Handler($queue, $access, changed: new ChangeLog($logger)). */
final class ChangeLog
{
    public function __construct(private readonly LoggerInterface $logger)
    {
    }

    public function __invoke(string $words, Request $request): void
    {
        // Ids are bytes that anybody may have chosen. They begin no line of their own.
        $this->logger->info('delayqueue dashboard: ' . strtr(Html::text($words, 1000), "\n", ' '), ['user' => $request->user]);
    }
}
