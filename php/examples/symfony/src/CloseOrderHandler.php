<?php

declare(strict_types=1);

namespace DelayQueue\Examples\Symfony;

use Symfony\Component\Messenger\Attribute\AsMessageHandler;

/** It runs in a transaction of the inbox, so what it changes takes effect once, though a message may come again. */
#[AsMessageHandler]
final class CloseOrderHandler
{
    public function __construct(private readonly Orders $orders)
    {
    }

    public function __invoke(CloseOrder $message): void
    {
        if ($pause = (float) ($_SERVER['SHOP_PAUSE'] ?? 0)) {
            fwrite(STDERR, "closing $message->order\n");
            usleep((int) (1e6 * $pause)); // For a look at a worker that is killed in the middle. SQLite lets nobody else write for so long.
        }
        $this->orders->close($message->order);
    }
}
