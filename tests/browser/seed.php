<?php

/** Queues whose pages are known: what the browser tests and the screenshots look at. Times are fixed where a test reads them. */

declare(strict_types=1);

use DelayQueue\Database\Journal;
use DelayQueue\Database\Schema;
use DelayQueue\GroupLimits;
use DelayQueue\Job;
use DelayQueue\Schedule\Cron;
use DelayQueue\Schedule\Every;
use DelayQueue\Schedule\Schedules;
use DelayQueue\Testing;

require __DIR__ . '/../../php/autoload.php';
is_file('/usr/share/php/Cron/autoload.php') && require '/usr/share/php/Cron/autoload.php';

// Orders that were closed in the last hour, for its pictures.
$orders = new DelayQueue('orders');
Testing::travelTo(new DateTimeImmutable('-50 minutes'));
foreach ([12, 30, 22, 41, 35, 18, 27, 33, 25, 29] as $round => $number) {
    for ($order = 0; $order < $number; ++$order) {
        $orders->push(['order' => 3000 + $order], id: "closed-$round-$order");
    }
    $orders->close(); // a consumer that has just connected copies the counters
    $orders->drain(static fn (Job $job): bool => !in_array($job->id, ["closed-$round-1", "closed-$round-2", "closed-3-3"], true) || throw new RuntimeException('the bank is away'));
    $orders->cancel("closed-$round-1", "closed-$round-2", 'closed-3-3');
    Testing::travel('5m');
}
Testing::travelBack();

// Orders to close, most of them soon.
$jobs = [];
for ($order = 1; $order <= 400; ++$order) {
    $jobs[] = ['payload' => ['order' => 4000 + $order, 'shop' => $order % 3 === 0 ? 'at' : 'de'], 'delay' => 600 + ($order * 7919) % 3000, 'id' => sprintf('order-%d', 4000 + $order)];
}
$orders->pushMany($jobs);
$orders->push(['order' => 1], '15m', 'order-1', headers: ['tags' => 'tenant:42,vip', 'traceparent' => '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01']);
$orders->push(['order' => 2], id: 'ready-1');

// Mails of which some have failed, with a journal of their runs.
$database = new PDO((string) getenv('JOURNAL'), null, null, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
Schema::install($database, jobs: true);
$mails = (new Journal($database, payloads: true))->watch(new DelayQueue('mails', null, ['maxAttempts' => 1]));
for ($mail = 1; $mail <= 12; ++$mail) {
    $mails->push(['to' => "customer-$mail@example.com", 'template' => 'reminder'], id: "mail-$mail");
}
$mails->drain(static fn (Job $job) => match (true) {
    $job->id === 'mail-1' => throw new RuntimeException('no such template: reminder'),
    in_array($job->id, ['mail-2', 'mail-3', 'mail-4'], true) => throw new RuntimeException("SMTP: connection to 192.0.2.{$job->payload['to'][9]}:25 timed out"),
    default => null,
});

// Tenants that take turns.
$imports = new DelayQueue('imports');
foreach (['acme' => 30, 'globex' => 5, 'initech' => 2] as $tenant => $number) {
    for ($part = 0; $part < $number; ++$part) {
        $imports->push(['tenant' => $tenant, 'part' => $part], group: $tenant);
    }
}
$imports->limitGroups('acme', new GroupLimits(concurrency: 2, rate: '100/1m'));
$imports->pause(null, 'globex');
(new DelayQueue('reports'))->pause('1h');
(new DelayQueue('reports'))->push(['month' => '2026-10'], '3d', 'report-1');

$schedules = new Schedules(new DelayQueue('schedules'));
$schedules->set('invoices', Cron::parse('0 9 * * MON-FRI', 'Europe/Berlin'), queue: 'invoices', job: ['payload' => ['kind' => 'daily']]);
$schedules->set('poll-4711', Every::interval('90s'), queue: 'polls', job: ['payload' => 4711]);

// Whatever can stand in a name or a payload.
$evil = '<script>document.title="owned"</script><img src=x onerror=alert(1)>"\'&';
$strange = new DelayQueue('strange', null, ['format' => 'raw', 'maxAttempts' => 1]);
$strange->push($evil, id: $evil, headers: ['x-evil' => $evil], group: $evil);
$strange->push("\xFF\xFE not UTF-8", id: "bytes\xFF");
$strange->push("\u{202E}drow", id: "rtl\u{202E}live");
$strange->push(str_repeat('long ', 200_000), id: 'long');
$strange->reserveJob($evil)?->fail(new RuntimeException($evil));
