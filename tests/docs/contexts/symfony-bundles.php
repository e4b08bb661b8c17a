<?php

/** The line in the array that config/bundles.php returns. */

require getenv('CONTEXTS') . '/shared/symfony.php';

$bundles = [
    // The sample.
];
foreach (array_keys($bundles) as $bundle) {
    new $bundle();
}
