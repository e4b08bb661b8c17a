<?php

/**
 * For PHPUnit 9, with --prepend: deprecations and notices fail a test, as PHPUnit 10 and newer can be told on the command line. PHPUnit 9 has an
 * attribute of its configuration for that, which later versions call deprecated, and leaves errors to a handler that is there before its own.
 */

declare(strict_types=1);

set_error_handler(static function (int $level, string $message, string $file, int $line): bool {
    if ((error_reporting() & $level) !== 0) {
        throw new ErrorException($message, 0, $level, $file, $line);
    }

    return false;
});
