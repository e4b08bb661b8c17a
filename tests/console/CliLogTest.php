<?php

declare(strict_types=1);

namespace DelayQueue\Tests\CommandLine;

use DelayQueue\State;
use DelayQueue\Tests\Support\CliTestCase;
use DelayQueue\Tests\Support\EndsPools;
use DelayQueue\Tests\Support\Wait;

/** The lines of delayqueue work and drain: which job a worker had when it was killed, a handler's output between them, and where their traces end. */
final class CliLogTest extends CliTestCase
{
    use EndsPools;

    public function testAParentNamesTheJobWhoseWorkerWasKilled(): void
    {
        $this->queue()->push([], id: 'fine');
        $this->queue()->push([], id: 'order-4711', ttr: 0.5, maxAttempts: 2);
        $handler = $this->handler('if ($job->id === "order-4711") { posix_kill(getmypid(), SIGKILL); }');
        $parent = $this->start('work', $handler, '--processes=2');
        $first = "/\\(process \\d+\\) was killed by signal 9 while it ran job order-4711 of $this->queueName, attempt 1 of 2; another starts/";
        $this->heard($parent, $first);
        $this->heard($parent, '/ ran job order-4711 of \S+, attempt 2 of 2: the job is buried when its lease ends; another starts/');
        Wait::until(fn (): bool => $this->queue()->peek('order-4711')->state === State::Buried, 20, 'it is buried');
        $this->endWell($parent);
        $this->assertStringNotContainsString('job fine', $parent->errors(), 'a job that is done is not in hand any more');
        preg_match_all('/ended with exit code 0(.*)/', $parent->errors(), $ends);
        $this->assertSame([''], array_unique($ends[1]));
    }

    /** The note of the jobs in hand is in a file of the parent. */
    public function testAParentLeavesNoFileBehindAlsoIfItIsKilled(): void
    {
        $folder = $this->redis->folder->path . '/tmp';
        mkdir($folder);
        foreach ([SIGTERM, SIGKILL] as $signal) {
            $parent = $this->startWith(['TMPDIR' => $folder], 'work', self::HANDLER, '--processes=2', '--idle-timeout=0.2');
            $this->ready($parent);
            $this->assertCount(1, glob("$folder/dqw*"));
            $parent->signal($signal);
            Wait::until(static fn (): bool => glob("$folder/dqw*") === [], 20, 'the file is removed');
            $this->finish($parent);
        }
        rmdir($folder);
        $parent = $this->startWith(['TMPDIR' => $folder], 'work', self::HANDLER, '--stop-when-empty', '--processes=2');
        $this->assertSame(0, $this->finish($parent)->exitCode);
    }

    public function testAParentNamesTheJobsInHandAlsoInJson(): void
    {
        foreach (['bulk' => 12, 'stuck' => 1, 'exit' => 1] as $case => $jobs) {
            for ($n = 1; $n <= $jobs; $n++) {
                $this->queue()->push([], id: "$case$n");
            }
            [$code, $options, $end] = match ($case) {
                'bulk' => ['posix_kill(getmypid(), SIGKILL);', ['--batch=12'], 'was killed by signal 9'],
                'stuck' => ['while (true) { try { sleep(60); } catch (Throwable) {} }', ['--timeout=200ms', '--grace-timeout=200ms'], 'ended with exit code 124'],
                'exit' => ['exit(0);', [], 'ended with exit code 1'],
            };
            $parent = $this->start('work', $this->handler($code), '--processes=2', '--log=json', ...$options);
            $line = $this->heard($parent, '/^.*"jobs":.*$/m')[0][0];
            $parent->signal(SIGTERM);
            $parent->exitCode(20);
            $this->queue()->purge();
            $fields = json_decode($line, true, flags: JSON_THROW_ON_ERROR);
            $this->assertSame('ended', $fields['event']);
            $this->assertStringContainsString($end, $fields['message']);
            $this->assertSame(['queue' => $this->queueName, 'id' => "{$case}1", 'attempt' => 1], $fields['jobs'][0]);
            $this->assertCount(min(10, $jobs), $fields['jobs']);
            if ($case === 'bulk') {
                $words = '/while it ran jobs of \S+: bulk1, bulk2, .*bulk10 and 2 more;/';
                $this->assertMatchesRegularExpression($words, $fields['message']);
            }
        }
    }

    public function testAHandlersOutputNeverJoinsALineOfTheLog(): void
    {
        $handler = $this->handler(<<<'PHP'
            match ($job->id) {
                'echo' => print('no newline'),
                'stdout' => fwrite(STDOUT, 'written'),
                'both' => [print('a'), fwrite(STDOUT, 'b'), print("c\nd")],
                'whole' => print("whole\n"),
                'inherits' => proc_close(proc_open(['echo', 'inherited'], [1 => STDOUT], $pipes)),
                'buffers' => [ob_end_clean(), print('b'), ob_start(), print('uffered'), ob_end_flush()],
                'again' => print('again'),
                'written' => fwrite(STDOUT, "whole\n"),
                'long' => print(str_repeat('x', 100_000)),
                'exit' => [print('bye'), exit(3)],
                'forks' => (function (): void {
                    echo 'before';
                    $child = pcntl_fork();
                    $child === 0 && [print("child\n"), exit(0)];
                    pcntl_waitpid($child, $status);
                    echo 'after';
                })(),
            };
            PHP);
        foreach (['echo', 'stdout', 'both', 'whole', 'long', 'forks', 'inherits', 'buffers', 'again', 'written', 'exit'] as $n => $id) {
            $this->queue()->push([], id: $id, priority: $n);
        }
        foreach (['drain' => ['drain', $handler, '--log=json'], 'work' => ['work', $handler, '--log=json', '--max-jobs=11']] as $command) {
            foreach ($this->queue()->list(State::Delayed) as $job) {
                $this->queue()->reschedule($job->id, 0);
            }
            $result = $this->cli(...$command);
            $lines = array_map(static fn (string $line): string => json_decode($line, true)['id'] ?? substr($line, 0, 20), explode("\n", trim($result->output)));
            if ($command[0] === 'drain') {
                $expected = ['no newline', 'echo', 'written', 'stdout', 'bac', 'd', 'both', 'whole', 'whole', str_repeat('x', 20), 'long', 'child', 'beforeafter', 'forks',
                    'inherited', 'inherits', 'buffered', 'buffers', 'again', 'again', 'whole', '', 'written'];
            }
            $this->assertSame([...$expected, 'bye', 'exit'], $lines);
            $this->assertSame(3, $result->exitCode);
            $expected = [];
        }
    }

    public function testOutputThatComesAfterTheLastLineIsNotLost(): void
    {
        $handler = $this->handler('register_shutdown_function(fn () => print("end"));');
        $this->queue()->push([]);
        $this->assertStringEndsWith(": done\nend", $this->cliExpecting(0, 'drain', $handler));
        $fatal = $this->handler('register_shutdown_function(fn () => print("fatal"));' . 'eval("interface Two {} class One implements Two, Two {}");');
        $this->queue()->push([], id: 'a');
        $this->assertMatchesRegularExpression('/ a attempt 1, .*: died .*\nfatal$/D', $this->cli('drain', $fatal)->output);
    }

    public function testFilesThatAreLoadedMayPrint(): void
    {
        foreach (['drain' => [], 'work' => ['--stop-when-empty']] as $command => $options) {
            $this->queue()->push([], id: 'a');
            $handler = $this->script('<?php echo "loaded"; return fn () => null;');
            $this->assertMatchesRegularExpression('/^loaded\n\S+ \S+ a attempt 1.*: done\n$/D', $this->cliExpecting(0, $command, $handler, ...$options));
        }
    }

    public function testAPoolsHandlersWriteWholeLines(): void
    {
        $handler = $this->handler('for ($n = 0; $n < 50; $n++) { echo "half"; usleep(200); echo " and half\n"; }');
        for ($n = 0; $n < 10; $n++) {
            $this->queue()->push([]);
        }
        $output = $this->cliExpecting(0, 'work', $handler, '--processes=4', '--stop-when-empty', '--log=json');
        $lines = array_filter(explode("\n", trim($output)), static fn (string $line): bool => !str_starts_with($line, '{'));
        $this->assertSame(['half and half'], array_values(array_unique($lines)));
        $this->assertCount(500, $lines);
    }

    public function testJsonIsJsonFromTheFirstByteOn(): void
    {
        $broken = $this->script('<?php oops');
        $wrong = [['work', 'nosuch.php', '--log=json'], ['work', $broken, '--log', 'json', '--processes=2'], ['drain', $broken, '--log=json', '-q'],
            ['work', self::HANDLER, '--log=json', '--nosuch'], ['work', self::HANDLER, '--log=json', '--max-time=soon']];
        foreach ($wrong as $command) {
            $result = $this->cli(...$command);
            $this->assertSame([2, ''], [$result->exitCode, $result->output]);
            foreach (explode("\n", trim($result->errors)) as $line) {
                $fields = json_decode($line, true, flags: JSON_THROW_ON_ERROR);
                $this->assertMatchesRegularExpression('/^\d{4}-\d\d-\d\dT.*Z$/', $fields['time']);
                $failures[] = $fields['event'] === 'failed' ? $fields['message'] : '';
            }
        }
        $this->assertStringContainsString('cannot load the handler nosuch.php: ', $failures[0]);
    }

    public function testTracesEndAtTheHandler(): void
    {
        $shop = 'class Shop { function __construct(private int $deep = 0) {} function pay($job) { $this->deep > 0 ? $this->again($job) : throw new RuntimeException("no"); }'
            . ' function again($job) { $this->deep--; $this->pay($job); } } class Handling { function handle($job) { (new Shop(2))->pay($job); } }';
        $through = '(fn ($job, $next) => $next($job))';
        $handlers = [
            'closure' => 'fn ($job) => (new Shop(2))->pay($job)',
            'object' => 'new Handling()',
            'task' => 'new DelayQueue\Worker\TaskRouter(["t" => new Handling()])',
            'pipeline' => "new DelayQueue\\Middleware\\Pipeline(new Handling(), $through)",
            'list' => 'fn (array $jobs) => (new Shop(2))->pay($jobs)',
            'object of lists' => 'new class () { function handle(array $jobs) { (new Shop(2))->pay($jobs); } }',
        ];
        foreach ($handlers as $name => $handler) {
            $this->queue()->push(['task' => 't'], id: $name, headers: ['dq-none' => '1']);
            $options = str_contains($handler, 'array $jobs') ? ['--batch=5'] : [];
            $script = $this->script("<?php $shop return $handler;");
            $line = $this->json('drain', $script, '--log=json', '--limit=1', ...$options);
            $frames = array_map(static fn (string $frame): string => preg_replace('/^#\d+ \S.*?: /', '', $frame), $line['trace']);
            $own = ['Shop->pay()', 'Shop->again()', 'Shop->pay()', 'Shop->again()', 'Shop->pay()'];
            $this->assertSame($own, $frames, $name);
            $error = (string) $this->queue()->peek($name)->lastError;
            preg_match_all('/^#\d+ (.*?): (.*)$/m', $error, $kept);
            $this->assertSame($own, array_slice($kept[2], 0, 5), $error);
            $this->assertLessThanOrEqual($name === 'pipeline' ? 7 : 6, count($kept[2]), $error);
            $this->assertDoesNotMatchRegularExpression('/DelayQueue|Symfony|JobLog|WorkCommand/', $error);
            $this->queue()->cancel($name);
        }
    }

    private int $files = 0;

    private function handler(string $code): string
    {
        return $this->script("<?php return function (\$job) { $code };");
    }

    private function script(string $code): string
    {
        return $this->file('file' . ++$this->files . '.php', $code);
    }
}
