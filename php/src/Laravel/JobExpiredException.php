<?php

declare(strict_types=1);

namespace DelayQueue\Laravel;

use RuntimeException;

/** Why a job has failed that was not started in time: see expiringAfter() of Identified. */
final class JobExpiredException extends RuntimeException
{
}
