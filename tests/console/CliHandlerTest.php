<?php

declare(strict_types=1);

namespace DelayQueue\Tests\CommandLine;

use DelayQueue\Tests\Support\CliTestCase;

/** The handler that delayqueue work and delayqueue drain are given: how it is found and made, and the words where it cannot be. */
final class CliHandlerTest extends CliTestCase
{
    /** @dataProvider handlers */
    #[\PHPUnit\Framework\Attributes\DataProvider('handlers')]
    public function testAHandlerIsAFileAMethodOrAClass(string $handler, string $expected): void
    {
        $code = <<<'PHP'
            <?php
            namespace Shop;
            final class Handler
            {
                private string $made = 'made';
                public function __invoke($job) { echo "invoked $this->made $job->payload\n"; }
                public function method($job) { echo "method $this->made $job->payload\n"; }
                public static function fixed($job) { echo "fixed $job->payload\n"; }
            }
            final class Handling
            {
                public function __construct(private string $made = 'made') {}
                public function handle($job) { echo "handled $this->made $job->payload "; }
                public function afterSucceeded($job) { echo "and told\n"; }
            }
            final class Failing
            {
                public function handle($job) { throw new \RuntimeException('no'); }
                public function afterFailed($job, $error) { echo "told that it said {$error->getMessage()}\n"; }
            }
            final class Container implements \Psr\Container\ContainerInterface
            {
                public function get(string $id): mixed { return new Handling('by the container'); }
                public function has(string $id): bool { return \in_array($id, [Handling::class, 'a.service'], true); }
            }
            PHP;
        file_put_contents("{$this->redis->folder->path}/bootstrap.php", $code);
        file_put_contents("{$this->redis->folder->path}/closure.php", '<?php return fn ($job) => print("closure $job->payload\n");');
        file_put_contents("{$this->redis->folder->path}/container.php", '<?php return new Shop\Container();');
        $this->queue()->push('x', maxAttempts: 1);
        $handler = str_replace('FOLDER', $this->redis->folder->path, $handler);
        [$handler, $options] = [strtok($handler, ' '), array_filter([strtok('')])];
        $output = $this->cliExpecting(0, 'drain', $handler, '--bootstrap', "{$this->redis->folder->path}/bootstrap.php", '-q', ...$options);
        $this->assertSame("$expected\n", $output);
    }

    /** @return array<string, array{string, string}> */
    public static function handlers(): array
    {
        return [
            'file' => ['FOLDER/closure.php', 'closure x'],
            'class' => ['Shop\Handler', 'invoked made x'],
            'method' => ['Shop\Handler::method', 'method made x'],
            'handle()' => ['Shop\Handling', 'handled made x and told'],
            'afterFailed()' => ['Shop\Failing', 'told that it said no'],
            'of a container' => ['Shop\Handling --container=FOLDER/container.php', 'handled by the container x and told'],
            'its name in a container' => ['a.service --container=FOLDER/container.php', 'handled by the container x and told'],
            'static method' => ['\Shop\Handler::fixed', 'fixed x'],
        ];
    }

    public function testWhatCannotBeLoadedIsSaidInOneLine(): void
    {
        $folder = $this->redis->folder->path;
        file_put_contents("$folder/number.php", '<?php return 5;');
        file_put_contents("$folder/broken.php", '<?php return function (');
        file_put_contents("$folder/throws.php", '<?php throw new RuntimeException("no database");');
        foreach (["$folder/number.php" => 'int', "$folder/broken.php" => 'ParseError', "$folder/throws.php" => 'no database', 'No\Such' => '--bootstrap', 'ArrayObject' => 'handle()', 'ArrayObject::nosuch' => 'nosuch()'] as $handler => $words) {
            foreach (['work', 'drain'] as $command) {
                $errors = $this->cliExpecting(2, $command, $handler);
                $this->assertMatchesRegularExpression('/^delayqueue: .*' . preg_quote($words, '/') . '.*\n$/D', $errors);
            }
        }
        $this->assertStringContainsString('no such file', $this->cliExpecting(2, 'work', self::HANDLER, '--bootstrap=nosuch.php'));
        $this->assertStringContainsString('ContainerInterface', $this->cliExpecting(2, 'work', self::HANDLER, "--container=$folder/number.php"));
        $this->assertStringContainsString('cannot write', $this->cliExpecting(2, 'work', self::HANDLER, '--log-file=/dev/null/x'));
    }

    public function testAFileThatReturnsNothingIsToldToReturn(): void
    {
        $file = $this->redis->folder->path . '/nothing.php';
        file_put_contents($file, '<?php function handle(): void {}');
        $errors = $this->cliExpecting(2, 'work', $file);
        $this->assertSame("delayqueue: cannot load the handler $file: the file returns nothing: end it with \"return\" and the handler, or the container\n", $errors);
        $this->assertStringContainsString("cannot load the container $file: the file returns nothing", $this->cliExpecting(2, 'work', self::HANDLER, "--container=$file"));
    }

    /** @dataProvider signatures */
    #[\PHPUnit\Framework\Attributes\DataProvider('signatures')]
    public function testAHandlerThatCannotTakeAJobIsRefusedAtTheStart(string $handler, ?string $words): void
    {
        $file = $this->file('handler.php', "<?php use DelayQueue\\{Job, JobInterface, QueueInterface};\nfinal class Handling { function handle(string \$order) {} }\nreturn $handler;");
        $this->queue()->push([], id: 'a');
        if ($words === null) {
            $this->cliExpecting(0, 'drain', $file);
            $this->assertNull($this->queue()->peek('a'));

            return;
        }
        foreach (['work', 'drain'] as $command) {
            $errors = $this->cliExpecting(2, $command, $file);
            $this->assertStringStartsWith("delayqueue: cannot load the handler $file: ", $errors);
            $this->assertStringContainsString($words, $errors);
        }
        $this->assertSame(0, $this->queue()->peek('a')->attempts);
    }

    /** @return array<string, array{string, ?string}> */
    public static function signatures(): array
    {
        $job = 'gets a DelayQueue\JobInterface';

        return [
            'a string' => ['function (string $order) {}', "the parameter string \$order of the handler $job"],
            'of a task' => ['new DelayQueue\Worker\TaskRouter(["close" => fn (Job $job) => 1])', "of task 'close' gets the params of the task; the job is the second argument"],
            'untyped' => ['fn ($job) => 1', null],
        ];
    }

    public function testAFileRunsInAScopeOfItsOwn(): void
    {
        $folder = $this->redis->folder->path;
        $scope = '(new ReflectionFunction(static fn () => 1))->getClosureScopeClass()?->name';
        $look = "echo json_encode([array_keys(get_defined_vars()), isset(\$this), $scope]), \"\\n\";";
        file_put_contents("$folder/bootstrap.php", "<?php $look");
        file_put_contents("$folder/handler.php", "<?php $look return function () { return self::class; };");
        $this->queue()->push([], id: 'a');
        $output = $this->cliExpecting(0, 'drain', "$folder/handler.php", "--bootstrap=$folder/bootstrap.php");
        $this->assertSame(2, substr_count($output, "[[],false,null]\n"), $output);
        $this->assertStringContainsString('Cannot use "self"', $output);
        $this->assertStringNotContainsString('HandlerLoader', $output . $this->queue()->peek('a')->lastError);
    }
}
