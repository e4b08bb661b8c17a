<?php

/** Closes orders whose time to pay is over. Run as many as are needed; SIGTERM ends one between two jobs. */

declare(strict_types=1);

(new DelayQueue('orders'))->consume(require __DIR__ . '/handler.php');
