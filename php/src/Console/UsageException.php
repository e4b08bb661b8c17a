<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use InvalidArgumentException;

/** The command line is wrong; nothing was done. */
final class UsageException extends InvalidArgumentException
{
}
