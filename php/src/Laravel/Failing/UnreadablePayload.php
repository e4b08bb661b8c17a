<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Failing;

use RuntimeException;

/** The payload of a job is not one of Laravel's: it fails without having run. */
final class UnreadablePayload extends RuntimeException
{
}
