<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use RuntimeException;

/** What was asked for is not there, or not to be done in this state. */
final class NothingDone extends RuntimeException
{
}
