<?php

/**
 * Makes the pages of the site, for MkDocs, in an empty folder: those of docs/, and those that are made of other files of the project.
 *
 *     php -n docs/tools/assemble.php FOLDER
 *
 * Without the extension: the stub declares the classes that the pages of the API are made of.
 */

declare(strict_types=1);

use DelayQueue\Docs\Site;

require __DIR__ . '/autoload.php';

if (!isset($argv[1]) || extension_loaded('delayqueue')) {
    fwrite(STDERR, "usage: php -n docs/tools/assemble.php FOLDER\n");
    exit(2);
}
try {
    (new Site(dirname(__DIR__, 2)))->writeTo($argv[1]);
} catch (RuntimeException $error) {
    fwrite(STDERR, "docs: {$error->getMessage()}\n");
    exit(1);
}
