<?php

declare(strict_types=1);

namespace DelayQueue\Tests\CommandLine;

use DelayQueue\Backoff;
use DelayQueue\State;
use DelayQueue\Tests\Support\CliTestCase;
use DelayQueue\Tests\Support\EndsPools;
use DelayQueue\Tests\Support\FreePort;
use DelayQueue\Tests\Support\Wait;

/** delayqueue work --metrics: numbers by the names of tasks, in a page beside the workers. */
final class CliTasksTest extends CliTestCase
{
    use EndsPools;

    private string $listen;

    protected function setUp(): void
    {
        parent::setUp();
        $this->listen = '127.0.0.1:' . FreePort::find();
    }

    public function testThePageHasRunsAndSecondsOfEachTaskAlsoAfterAReload(): void
    {
        foreach (['a', 'b', 'c'] as $id) {
            $this->queue()->push(['task' => 'close', 'params' => 1], id: $id);
        }
        $this->queue()->push(['task' => 'remind'], id: 'd', maxAttempts: 2, backoff: Backoff::fixed('1h'));
        $this->queue()->push('no task', id: 'e');
        $this->queue()->push(['task' => "evil\"} 1\n\\" . str_repeat('é', 1000)], id: 'f');
        $folder = "{$this->redis->folder->path}/tmp";
        mkdir($folder);
        $handler = $this->file('handler.php', '<?php return function (DelayQueue\Job $job) { usleep(2000); if ($job->id === "d") { throw new Exception("no"); } };');
        $parent = $this->startWith(['TMPDIR' => $folder], 'work', $handler, '--processes=2', "--metrics=$this->listen");
        Wait::until(fn (): bool => $this->queue()->count(State::Ready) === 0 && str_contains($this->page(), 'task="remind"') && substr_count($this->page(), '_runs_total{') === 4, 20, 'all have run');
        $runs = fn (string $task, string $outcome): ?string => preg_match("/^delayqueue_task_runs_total\\{queue=\"$this->queueName\",task=\"$task\",outcome=\"$outcome\"} (\\d+)$/m", $this->page(), $found) ? $found[1] : null;
        $this->assertSame(['3', '1', '1'], [$runs('close', 'done'), $runs('remind', 'failed'), $runs('', 'done')]);
        $this->assertSame(1, preg_match('/^delayqueue_task_seconds_total\{queue="[^"]+",task="close",outcome="done"} ([\d.]+)$/m', $this->page(), $seconds));
        $this->assertGreaterThanOrEqual(0.006, (float) $seconds[1]);
        $this->assertMatchesRegularExpression('/task="evil\\\\"} 1.{1,150}",outcome="done"} 1$/m', $this->page());
        $this->assertSame("ok\n", file_get_contents("http://$this->listen/healthz"));
        $this->assertStringContainsString('/metrics', (string) file_get_contents("http://$this->listen/", false, stream_context_create(['http' => ['ignore_errors' => true]])));
        $this->assertSame([], preg_grep('/^(# (HELP|TYPE) \w+ .+|delayqueue_task_\w+_total\{(\w+="([^"\\\\]|\\\\.)*",?){3}} [\d.]+|)$/D', explode("\n", $this->page()), PREG_GREP_INVERT));

        $parent->signal(SIGHUP);
        $this->heard($parent, '/the new metrics is ready/');
        $this->queue()->push(['task' => 'close'], id: 'after');
        Wait::until(fn (): bool => $runs('close', 'done') === '4', 20, 'the numbers go on');
        $this->endWell($parent);
        $this->assertSame([], glob("$folder/*"), 'no file is left');
    }

    public function testASingleWorkerHasAPageAndAWrongAddressIsWrongUsage(): void
    {
        $parent = $this->start('work', $this->file('handler.php', '<?php return fn () => null;'), "--metrics=$this->listen");
        Wait::until(fn (): bool => str_contains($this->page(), '# TYPE delayqueue_task_runs_total counter'), 20, 'a page without tasks');
        $this->endWell($parent);
        $this->assertStringContainsString('127.0.0.1:9638', $this->cliExpecting(2, 'work', self::HANDLER, '--metrics=here'));
    }

    public function testAnAddressThatIsTakenIsToldAndTheWorkersWork(): void
    {
        $handler = $this->file('handler.php', '<?php return fn () => null;');
        $other = $this->start('work', $handler, '--queue=other', "--metrics=$this->listen");
        Wait::until(fn (): bool => $this->page() !== '', 20, 'the other parent has the address');
        $parent = $this->start('work', $handler, "--metrics=$this->listen");
        $this->queue()->push(['task' => 'close']);
        $this->heard($parent, "/cannot listen on $this->listen: /");
        Wait::until(fn (): bool => $this->queue()->count() === 0, 20, 'the job is done');
        $this->endWell($other);
        Wait::until(fn (): bool => str_contains($this->page(), 'task="close"'), 20, 'the page is there once the address is free');
        $this->endWell($parent);
    }

    private function page(): string
    {
        return (string) @file_get_contents("http://$this->listen/metrics", false, stream_context_create(['http' => ['timeout' => 5]]));
    }
}
