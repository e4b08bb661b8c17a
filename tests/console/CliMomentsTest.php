<?php

declare(strict_types=1);

namespace DelayQueue\Tests\CommandLine;

use DelayQueue\Tests\Support\CliTestCase;

/** Moments and durations on the command line: when a job is started at the latest, and a Unix time that is none. */
final class CliMomentsTest extends CliTestCase
{
    public function testAJobMayHaveATimeByWhichItIsStartedOrTried(): void
    {
        $this->cliExpecting(0, 'push', '1', '--id=late', '--expires=0.1');
        $this->cliExpecting(0, 'push', '1', '--id=dropped', '--expires=500ms', '--on-expiry=drop', '--at=2020-01-01');
        $this->cliExpecting(0, 'push', '1', '--id=moment', '--delay=1d', '--expires=2040-01-31T12:00:00Z');
        $this->cliExpecting(0, 'push', '1', '--id=tried', '--delay=1d', '--retry-until=2h30m');
        [$moment, $tried] = [$this->queue()->peek('moment'), $this->queue()->peek('tried')];
        $this->assertSame([2211624000.0, null], [$moment->expiresAt, $moment->retryUntil]);
        $this->assertEqualsWithDelta(9000.0, $tried->retryUntil - $tried->dueAt, 0.001);
        $this->assertStringContainsString('expires      2040-01-31', $this->cliExpecting(0, 'show', 'moment'));
        $this->assertStringContainsString('tried until', $this->cliExpecting(0, 'show', 'tried'));
        json_decode($this->cliExpecting(0, 'show', 'moment', '--format=json'), flags: JSON_THROW_ON_ERROR);
        usleep(600_000); // one whose moment had passed falls due with the push
        $this->assertNull($this->queue()->reserve());
        $this->assertNull($this->queue()->peek('dropped'));
        $this->assertSame('expired', $this->queue()->peek('late')->lastError);
        $stats = json_decode($this->cliExpecting(0, 'stats', '--format=json'), true, flags: JSON_THROW_ON_ERROR);
        $this->assertSame(2, $stats[0]['expired']);
        $this->assertStringEndsWith(
            "--expires=1795412800 is neither a duration nor a moment: for a Unix time write --expires=@1795412800\n",
            $this->cliExpecting(2, 'push', '1', '--expires=1795412800'),
        );
        $this->assertStringEndsWith("--retry-until=soon is neither a duration nor a moment\n", $this->cliExpecting(2, 'push', '1', '--retry-until=soon'));
    }

    public function testAUnixTimeIsRefusedWithTheWordsToWriteInstead(): void
    {
        $words = 'delay must be a delay, and 1795412800 looks like a Unix time: for a moment give --at=@1795412800';
        $this->assertSame("delayqueue: $words\n", $this->cliExpecting(2, 'push', '1', '--delay=1795412800'));
        $this->assertSame("delayqueue: $words\n", $this->cliExpecting(2, 'reschedule', 'a', '1795412800'));
        // PHP would take the second one for 16:36:54 in the year 483.
        foreach (['1795412800', '1636540483'] as $time) {
            $said = $this->cliExpecting(2, 'push', '1', "--at=$time");
            $this->assertStringContainsString("--at=$time is not a moment: for a Unix time write --at=@$time\n", $said);
        }
        foreach (['31.2.2030', '2030-02-29'] as $date) { // PHP would take them for days in March
            $this->assertStringEndsWith("--at=$date is not a moment\n", $this->cliExpecting(2, 'push', '1', "--at=$date"));
        }
        $this->assertStringEndsWith("--at=nonsense is not a moment\n", $this->cliExpecting(2, 'push', '1', '--at=nonsense'));
        $said = $this->cliExpecting(2, 'pause', '--for=1795412800', '--create');
        $this->assertStringEndsWith("a Unix time: for a moment give --for=\$((1795412800 - \$(date +%s)))\n", $said, 'pause has no --at');
    }
}
