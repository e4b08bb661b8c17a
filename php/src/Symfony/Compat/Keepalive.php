<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Compat;

use Symfony\Component\Messenger\Transport\Receiver\KeepaliveReceiverInterface;

if (interface_exists(KeepaliveReceiverInterface::class)) {
    /** @internal Symfony's interface of 7.2 and later. */
    interface Keepalive extends KeepaliveReceiverInterface
    {
    }
} else {
    /** @internal Messenger before 7.2 has no such interface. */
    interface Keepalive
    {
    }
}
