<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Compat;

use Symfony\Component\Messenger\Transport\CloseableTransportInterface;

if (interface_exists(CloseableTransportInterface::class)) {
    /** @internal Symfony's interface of 7.3 and later. */
    interface Closeable extends CloseableTransportInterface
    {
    }
} else {
    /** @internal Messenger before 7.3 has no such interface. */
    interface Closeable
    {
    }
}
