<?php

/** A page of php-fpm while Redis is away, and what it says then. */

putenv('DELAYQUEUE_DSN=redis://127.0.0.1:1/0');
ini_set('error_log', __DIR__ . '/errors.log');
ini_set('log_errors', '1');
ob_start();
register_shutdown_function(static function (): void {
    ob_get_clean() === 'Please try again in a moment' && http_response_code() === 503 && filesize(__DIR__ . '/errors.log') > 0 || exit(1);
});

// The sample.
