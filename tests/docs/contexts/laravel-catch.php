<?php

/** A package that meets the time limit of its job. */

$package = new class () {
    public function import(string $file): void
    {
        throw new DelayQueue\TimeoutException($file);
    }
};
$file = 'orders.csv';
try {
    // The sample.
} catch (DelayQueue\TimeoutException) {
    exit(0);
}
exit(1);
