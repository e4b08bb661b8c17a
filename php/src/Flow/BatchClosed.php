<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

use RuntimeException;

/** The batch takes no more members, because it has ended or was cancelled. Nothing was added. */
final class BatchClosed extends RuntimeException
{
}
