<?php

/** The user of the application, and a request of theirs. */

require 'vendor/autoload.php';

$user = (object) ['role' => 'support', 'name' => 'ann'];
$_SERVER = ['REQUEST_METHOD' => 'GET', 'REQUEST_URI' => '/delayqueue/workers', 'HTTP_HOST' => 'shop.example'] + $_SERVER;
ob_start();

// The sample.

if (!str_contains((string) ob_get_clean(), 'href="/delayqueue/style.css"') || http_response_code() !== 200) {
    exit(1);
}
