<?php

declare(strict_types=1);

namespace DelayQueue\Examples\Symfony;

use Shop;
use Symfony\Component\Messenger\Attribute\AsMessageHandler;

/** A message comes at least once: closing an order is one conditional UPDATE, which takes effect once. */
#[AsMessageHandler]
final class CloseOrderHandler
{
    public function __construct(private readonly Shop $shop)
    {
    }

    public function __invoke(CloseOrder $message): void
    {
        if ($pause = (float) ($_SERVER['SHOP_PAUSE'] ?? 0)) {
            fwrite(STDERR, "closing $message->order\n");
            usleep((int) (1e6 * $pause)); // For a look at a worker that is killed in the middle.
        }
        $this->shop->close($message->order);
    }
}
