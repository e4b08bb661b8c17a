<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

use RuntimeException;

/** Another process is changing the batch, or its start() has not come to its end. Call again. */
final class BatchHeld extends RuntimeException
{
}
