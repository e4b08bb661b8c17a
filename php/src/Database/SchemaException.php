<?php

declare(strict_types=1);

namespace DelayQueue\Database;

use RuntimeException;

/** A table that is missing, or older or newer than this package. The message names the cure. */
final class SchemaException extends RuntimeException
{
}
