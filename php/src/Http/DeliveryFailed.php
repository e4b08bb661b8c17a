<?php

declare(strict_types=1);

namespace DelayQueue\Http;

use RuntimeException;

/** A notification that its receiver did not accept at this attempt. The message names the receiver without path and query. */
final class DeliveryFailed extends RuntimeException
{
}
