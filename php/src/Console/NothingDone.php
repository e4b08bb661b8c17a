<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use RuntimeException;

/** The job or queue asked for is not there, or its state forbids the change. */
final class NothingDone extends RuntimeException
{
}
