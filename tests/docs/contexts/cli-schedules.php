<?php

/** Before each command of the page: a schedule, which is paused where the command resumes it, and a file with it. */

use DelayQueue\Schedule\Cron;
use DelayQueue\Schedule\Schedules;

require 'vendor/autoload.php';

$schedules = new Schedules(new DelayQueue('schedules'));
$schedules->set('invoices', Cron::parse('0 9 * * MON-FRI', 'Europe/Berlin'), queue: 'invoices');
if (str_contains((string) getenv('COMMAND'), 'resume')) {
    $schedules->pause('invoices');
}
file_exists('schedules.json') || file_put_contents('schedules.json', '{"invoices": {"cron": "0 9 * * MON-FRI", "zone": "Europe/Berlin", "queue": "invoices"}}');
