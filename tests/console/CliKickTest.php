<?php

declare(strict_types=1);

namespace DelayQueue\Tests\CommandLine;

use DelayQueue\State;
use DelayQueue\Tests\Support\CliTestCase;

/** delayqueue kick without a number, and a handler that returns false. */
final class CliKickTest extends CliTestCase
{
    public function testWithoutANumberAllBuriedJobsAreKicked(): void
    {
        $this->bury(3);
        $this->queue()->push(1, delay: 3600, id: 'delayed');
        $this->assertSame("3 kicked\n", $this->cliExpecting(0, 'kick'));
        $this->assertSame([0, 3, 1], array_map($this->queue()->count(...), [State::Buried, State::Ready, State::Delayed]));
        $this->assertSame([1, "0 kicked\n"], [($again = $this->cli('kick'))->exitCode, $again->output]);
    }

    public function testManyAreKickedOnlyIfSomebodySaysYes(): void
    {
        $this->bury(1001);
        $this->assertStringContainsString('there is no terminal to ask on: --yes kicks without asking', $this->cliExpecting(2, 'kick'));
        $this->assertSame(1001, $this->queue()->count(State::Buried));
        $this->assertSame("1 kicked\n", $this->cliExpecting(0, 'kick', '--max=1'));
        $this->assertSame("1000 kicked\n", $this->cliExpecting(0, 'kick'), 'as many as may be kicked without a question');
        $this->bury(1001);
        $this->assertSame("1001 kicked\n", $this->cliExpecting(0, 'kick', '--yes'));
    }

    public function testAHandlerThatReturnsFalseIsToldOfOnceAndItsJobsAreDone(): void
    {
        $file = $this->redis->folder->path . '/false.php';
        file_put_contents($file, '<?php return static fn (DelayQueue\Job $job): bool => $job->payload > 2;');
        foreach ([1, 2, 3] as $payload) {
            $this->queue()->push($payload);
        }
        $worker = $this->start('work', $file, '--stop-when-empty');
        $this->assertSame(0, $worker->exitCode(), $worker->errors());
        $this->assertSame(1, substr_count($worker->errors(), 'a handler returned false, which no longer fails a job'));
        $this->assertSame([0, 3, 0], [$this->queue()->count(), $this->queue()->stats()->acked, $this->queue()->stats()->failed]);

        $this->queue()->push(3);
        $this->assertStringNotContainsString('returned false', $this->finish($this->start('work', $file, '--stop-when-empty'))->errors);
        $this->queue()->push(1);
        $drained = $this->finish($this->start('drain', $file, '--log=json'))->errors;
        $this->assertSame('returnedFalse', json_decode($drained, true, flags: JSON_THROW_ON_ERROR)['event']);
    }

    private function bury(int $jobs): void
    {
        $queue = $this->queue();
        $queue->pushMany(array_fill(0, $jobs, ['payload' => 1]));
        for ($left = $jobs; $left > 0;) {
            foreach ($queue->reserveMany(min(500, $left)) as $job) {
                $job->bury();
                $left--;
            }
        }
    }
}
