<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Failing;

use RuntimeException;

/** A job has failed for the last time and could not be recorded in failed_jobs. It stays in its queue. */
final class FailureNotRecorded extends RuntimeException
{
}
