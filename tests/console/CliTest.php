<?php

declare(strict_types=1);

namespace DelayQueue\Tests\CommandLine;

use DelayQueue;
use DelayQueue\State;
use DelayQueue\Tests\Support\CliResult;
use DelayQueue\Tests\Support\CliTestCase;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\Wait;

/** The commands that look and manage; and how the command line explains itself and fails. */
final class CliTest extends CliTestCase
{
    private const COMMANDS = [
        'work', 'drain', 'push', 'stats', 'list', 'show', 'cancel', 'kick', 'reschedule', 'pause', 'resume', 'purge', 'doctor', 'install-scripts', 'serve',
        'dump', 'load', 'reseal', 'metrics', 'forget', 'receipts', 'forget-receipts', 'workers', 'workers:stop', 'workers:restart', 'workers:pause', 'workers:resume',
        'groups', 'limit', 'rate-limit', 'check', 'watch', 'update', 'move', 'dashboard',
        'schedules', 'schedules:show', 'schedules:set', 'schedules:pause', 'schedules:resume', 'schedules:run', 'schedules:remove',
    ];

    public function testEveryCommandExplainsItself(): void
    {
        $overview = $this->cliExpecting(0);
        $this->assertSame($overview, $this->cliExpecting(0, '--help'));
        $this->assertStringNotContainsString("\e[", $overview, 'no colours where there is no terminal');
        foreach (self::COMMANDS as $command) {
            $this->assertMatchesRegularExpression("/^  $command  +\\S/m", $overview);
            $help = $this->cliExpecting(0, $command, '--help');
            $this->assertStringContainsString('Exit codes:', $help);
            $this->assertStringContainsString("  delayqueue $command", $help, 'an example');
            $this->assertStringContainsString('--dsn', $help);
        }
        $this->assertSame('delayqueue ' . DelayQueue::VERSION . "\n", $this->cliExpecting(0, '--version'));
    }

    public function testItFindsTheAutoloaderOfTheProjectItIsInstalledIn(): void
    {
        $folder = $this->redis->folder->path;
        $package = "$folder/vendor/delayqueue/delayqueue";
        mkdir("$package/bin", 0o700, true);
        copy(self::BINARY, "$package/bin/delayqueue");
        $autoload = dirname(self::BINARY, 2) . '/autoload.php';
        $project = static fn (string $which): string => "<?php echo '$which '; require 'Symfony/Component/Console/autoload.php'; require '$autoload';";
        file_put_contents("$folder/vendor/autoload.php", $project('usual'));
        file_put_contents("$folder/elsewhere.php", $project('told'));
        file_put_contents("$folder/proxy.php", "<?php \$_composer_autoload_path = '$folder/elsewhere.php'; include '$package/bin/delayqueue';");

        $run = fn (string ...$command): CliResult => $this->finish(new Process([PHP_BINARY, ...$command], $this->environment()));
        $this->assertStringStartsWith('usual delayqueue ', $run("$package/bin/delayqueue", '--version')->output);
        $this->assertStringContainsString('told delayqueue ', $run("$folder/proxy.php", '--version')->output);

        $without = $run('-d', 'include_path=/nowhere', self::BINARY, '--version');
        $this->assertSame(1, $without->exitCode);
        $this->assertStringContainsString('composer require symfony/console', $without->errors);
    }

    public function testThePageAboutItNamesEveryCommandAndOption(): void
    {
        $page = (string) file_get_contents(__DIR__ . '/../../docs/cli.md');
        $shared = ['help', 'quiet', 'verbose', 'version', 'ansi', 'no-ansi', 'no-interaction', 'silent'];
        foreach (self::COMMANDS as $command) {
            $this->assertMatchesRegularExpression("/^delayqueue $command\\b/m", $page, 'an example');
            foreach (array_diff(array_keys($this->json('help', $command, '--format=json')['definition']['options']), $shared) as $option) {
                $this->assertStringContainsString("--$option", $page, "of $command");
            }
        }
    }

    public function testJsonGivesPayloadsExactly(): void
    {
        $payloads = ['{}', '{"a":{},"b":[],"big":12345678901234567890,"f":1.0,"e":1E2}', '[1.10]', '12345678901234567890', 'null', '"<\u001b> \\" [] {}"'];
        foreach ($payloads as $number => $payload) {
            $this->cliExpecting(0, 'push', $payload, "--id=job-$number");
            $this->assertStringContainsString(",\"payload\":$payload,", $this->cliExpecting(0, 'show', "job-$number", '--format=json'));
        }
        $this->cliExpecting(0, 'push', "{\n  \"a b\": [ 1,\t2 ],\r\n  \"c\": \" \\\" \"\n}\n", '--id=pretty');
        $shown = $this->cliExpecting(0, 'show', 'pretty', '--format=json');
        $this->assertStringContainsString(',"payload":{"a b":[1,2],"c":" \\" "},', $shown);
        $this->assertSame(1, substr_count($shown, "\n"));
        $this->cliExpecting(0, 'push', '--raw', '{not JSON', '--id=raw');
        $this->assertStringContainsString(',"payload":null,', $this->cliExpecting(0, 'show', 'raw', '--format=json'));
        $list = $this->cliExpecting(0, 'list', 'ready', '--format=json');
        foreach ($payloads as $payload) {
            $this->assertStringContainsString(",\"payload\":$payload,", $list);
        }
        $large = '{"text":"' . str_repeat('\\" \u20ac', 50_000) . '"}';
        $this->queue(['format' => 'raw'])->push($large, id: 'large');
        $this->assertStringContainsString(",\"payload\":$large,", $this->cliExpecting(0, 'show', 'large', '--format=json'));
    }

    public function testAnUnknownOptionOrFormatNamesTheRightOnes(): void
    {
        $answers = [
            'stats --formt=json' => [2, 'The "--formt" option does not exist; did you mean --format?'],
            'push 1 --maxattempts=3' => [2, 'did you mean --max-attempts?'],
            'list ready --queu=a' => [2, 'did you mean --queue?'],
            'stats --zzz' => [2, '; delayqueue stats --help lists all'],
            'check --max-aeg=1m' => [3, 'did you mean --max-age?'],
            'list ready --format=jsn' => [2, '--format=jsn is unknown: text or json'],
            'stats --format=jsn' => [2, '--format=jsn is unknown: text, json or prometheus'],
        ];
        foreach ($answers as $line => [$code, $answer]) {
            $this->assertStringContainsString($answer, $this->cliExpecting($code, ...explode(' ', $line)));
        }
    }

    public function testUpdateReplacesThePayloadAndTheHeadersThatAreNamed(): void
    {
        $queue = $this->queue();
        $queue->push(['order' => 1], id: 'a', headers: ['tenant' => 'acme', 'dq-batch' => 'b'], maxAttempts: 1);
        $queue->reserve()?->fail('no money');
        $this->assertSame('', $this->cliExpecting(0, 'update', 'a', '{"order":{}, "n": 1E2}'));
        $job = $queue->peek('a');
        $this->assertSame(['{"order":{}, "n": 1E2}', State::Buried, 1], [$job?->body, $job->state, $job->attempts]);
        $this->assertEquals(['no money', ['tenant' => 'acme', 'dq-batch' => 'b']], [$job->lastError, $job->headers]);
        $this->cliExpecting(0, 'update', 'a', '--raw', '{', '--header=trace: 7');
        $this->assertEquals(['{', ['tenant' => 'acme', 'trace' => '7', 'dq-batch' => 'b']], [$queue->peek('a')?->body, $queue->peek('a')?->headers]);
        $this->cliExpecting(0, 'update', 'a', '1', '--no-header=tenant', '--header=trace: 8');
        $this->assertEquals(['trace' => '8', 'dq-batch' => 'b'], $queue->peek('a')?->headers);
        $process = $this->start('update', 'a', '-');
        $process->say('{"from": "input"}');
        $this->assertSame(0, $this->finish($process)->exitCode);
        $this->assertSame(['from' => 'input'], $queue->peek('a')?->payload);

        $this->assertStringContainsString("there is no job b in queue $this->queueName, or a worker holds it", $this->cliExpecting(1, 'update', 'b', '1'));
        $this->assertStringContainsString('the payload is not JSON', $this->cliExpecting(2, 'update', 'a', '{'));
        $queue->kickJob('a');
        $queue->reserve();
        $this->cliExpecting(1, 'update', 'a', '1');
    }

    public function testAQueueThatIsEmptyAndUnusedIsForgotten(): void
    {
        $this->cliExpecting(0, 'push', '1', '--id=a', '--delay=1h');
        (new DelayQueue('empty', $this->redis->dsn()))->push(1, id: 'b');
        (new DelayQueue('empty', $this->redis->dsn()))->cancel('b');
        $result = $this->cli('forget', $this->queueName, 'empty');
        $this->assertSame([1, "empty is forgotten\n"], [$result->exitCode, $result->output]);
        $this->assertStringContainsString("in use, and not forgotten: $this->queueName (there are jobs", $result->errors);
        $this->assertSame([$this->queueName], array_column($this->json('stats', '--format=json'), 'queue'));
        $this->assertStringContainsString('there is no queue empty', $this->cliExpecting(2, 'forget', 'empty'));
        $this->cliExpecting(0, 'purge', '--force');
        $this->assertSame("$this->queueName is forgotten\n", $this->cliExpecting(0, 'forget'));
        $this->assertSame([], $this->json('stats', '--format=json'));
    }

    public function testAnUnknownCommandEndsWithTwoAlsoOnATerminal(): void
    {
        $this->assertStringContainsString('Command "nonsense" is not defined', $this->cliExpecting(2, 'nonsense'));
        $this->assertStringContainsString('Did you mean this? list', $this->cliExpecting(2, 'lst', '--queue=a'));
        $command = implode(' ', array_map(escapeshellarg(...), [PHP_BINARY, self::BINARY, 'lst']));
        $onTerminal = new Process(['script', '-qec', $command, '/dev/null'], $this->environment());
        $said = $onTerminal->rest(20);
        $this->assertSame(2, $onTerminal->exitCode(20), $said);
        $this->assertStringNotContainsString('?  (yes/no)', $said);
    }

    public function testJobsAreListedAndShown(): void
    {
        $queue = $this->queue();
        foreach (['a', 'b', 'c'] as $n => $id) {
            $queue->push(['n' => $n], id: $id);
        }
        $queue->push("<info>\u{1F600}" . str_repeat('é', 40), delay: '2h', id: 'later');
        $queue->reserveJob('a')->bury('too bad');

        $this->assertSame(['b', 'c'], array_column($this->json('list', 'ready', '--format=json'), 'id'));
        $this->assertSame(['c'], array_column($this->json('list', 'ready', '--format=json', '--offset=1', '--limit=1'), 'id'));
        $this->assertSame(['c'], array_column($this->json('list', 'ready', '--format=json', '--after=b'), 'id'));
        $this->assertSame([], $this->json('list', 'ready', '--format=json', '--after=b', '--offset=1'));
        $place = $this->json('list', 'ready', '--format=json', '--limit=1')[0]['place'];
        $queue->cancel('b');
        $this->assertSame(
            ['c'],
            array_column($this->json('list', 'ready', '--format=json', "--after=$place"), 'id'),
            'the job has gone',
        );
        $this->assertStringContainsString('there is no job x', $this->cliExpecting(1, 'list', 'ready', '--after=x'));
        $this->assertStringContainsString(
            'there is no job ready.x',
            $this->cliExpecting(1, 'list', 'ready', '--after=ready.x'),
        );
        $this->assertStringContainsString('job a is buried, not ready', $this->cliExpecting(1, 'list', 'ready', '--after=a'));
        $this->assertSame([], $this->json('list', 'reserved', '--format=json'));
        $this->assertSame('', $this->cliExpecting(0, 'list', 'reserved'));
        $this->assertMatchesRegularExpression('/^a +\S+Z \(\S+ m?s ago\) +1 +1024 +\{"n":0\} +too bad *$/m', $this->cliExpecting(0, 'list', 'buried'));
        $later = $this->cliExpecting(0, 'list', 'delayed');
        $this->assertStringContainsString('"<info>', $later, 'payloads are no markup');
        $this->assertMatchesRegularExpression('//u', $later, 'nothing is cut in the middle of a character');

        $shown = $this->json('show', 'a', '--format=json');
        $this->assertSame(
            ['buried', 'a', ['n' => 0], 1, 'too bad', 1], [$shown['state'], $shown['id'], $shown['payload'], $shown['attempts'], $shown['lastError'], $shown['buries']],
        );
        $text = $this->cliExpecting(0, 'show', 'a');
        $this->assertMatchesRegularExpression('/^state +buried$.*^attempts +1 of 10$.*^history +buries: 1$.*^last error +too bad$.*^payload +\{"n":0\}$/ms', $text);
        $this->assertStringContainsString("no job nowhere in queue $this->queueName; --queue names another one", $this->cliExpecting(1, 'show', 'nowhere'));
    }

    public function testTheLinesOfAnExceptionAreShownAsLines(): void
    {
        $this->queue()->push(1, id: 'a');
        $this->queue()->reserveJob('a')->bury(new \RuntimeException('broken', 0, new \LogicException("a\nb")));
        $shown = $this->cliExpecting(0, 'show', 'a');
        $this->assertStringContainsString("last error   RuntimeException: broken\n             in " . __FILE__ . ':', $shown);
        $this->assertStringContainsString("\n             caused by LogicException: a\\nb in ", $shown);
        $this->assertStringContainsString("\n             #0 ", $shown);
    }

    /** Whoever may push, or be in the message of an exception, gives no orders to the terminal of whoever looks. */
    public function testStoredBytesGiveATerminalNoOrders(): void
    {
        // Set the title, clear the screen, begin a new line; the same with one character of C1; turn the direction of writing around; DEL.
        $hostile = "<b>\e]0;title\x07\e[2J\r\nstate ready \u{9B}31m \u{202E}txt\x7F";
        $escaped = '<b>\u001b]0;title\u0007\u001b[2J\r\nstate ready \u009b31m \u202etxt\u007f';
        $id = "id-\u{202E}-\u{9B}2J";
        $queue = $this->queue(['format' => 'raw']);
        $queue->push($hostile, id: $id, maxAttempts: 1, headers: ['note' => "\u{9B}2J"]);
        $queue->reserveJob($id)->bury("not: $hostile");
        $queue->push("\xFF\e\0", id: 'bytes');

        $shown = $this->cliExpecting(0, 'show', $id);
        $this->assertStringContainsString("payload      $escaped\n", $shown);
        $this->assertStringContainsString("last error   not: $escaped\n", $shown);
        $this->assertStringContainsString("header       note: \\u009b2J\n", $shown);
        $this->assertStringContainsString('payload      \xFF\u001b\u0000', $this->cliExpecting(0, 'show', 'bytes'));
        $json = $this->cliExpecting(0, 'show', $id, '--format=json');
        $this->assertSame([$id, $hostile], [json_decode($json)->id, json_decode($json)->body], 'escaped, but the same');
        $dump = $this->cliExpecting(0, 'dump');
        $this->assertStringContainsString($escaped, $dump);

        file_put_contents($file = "{$this->redis->folder->path}/throws.php", '<?php return fn ($job) => throw new Exception($job->body);');
        $queue->kick();
        $log = $this->cliExpecting(0, 'drain', $file);
        $this->assertStringContainsString(' id-\u202e-\u009b2J attempt 1', $log);
        $error = $this->cliExpecting(1, 'show', "\u{9B}2J");
        $this->assertStringContainsString('there is no job \u009b2J in queue', $error);

        $printed = $shown . $json . $dump . $log . $error . $this->cliExpecting(0, 'list', 'buried') . $this->cliExpecting(0, 'list', 'buried', '--format=json');
        $this->assertStringContainsString('txt', $printed);
        $this->assertSame(0, preg_match('/[\x00-\x09\x0B-\x1F\x7F-\x{9F}\x{202E}]/u', $printed), $printed);
    }

    public function testJobsAreManaged(): void
    {
        $queue = $this->queue();
        foreach (['a', 'b', 'c', 'd'] as $id) {
            $queue->push(1, id: $id);
            $queue->reserveJob($id)->bury();
        }
        $this->assertSame("2 kicked\n", $this->cliExpecting(0, 'kick', '--max=2'));
        $this->assertSame([State::Ready, State::Ready, State::Buried], [$queue->peek('a')->state, $queue->peek('b')->state, $queue->peek('c')->state]);
        $this->assertSame("1 kicked\n", $this->cliExpecting(0, 'kick', 'd', 'nowhere', '--keep-attempts'));
        $this->assertSame([0, 1], [$queue->peek('a')->attempts, $queue->peek('d')->attempts]);
        $this->cliExpecting(1, 'kick', 'nowhere');

        $this->cliExpecting(0, 'reschedule', 'c', '1h');
        $this->assertEqualsWithDelta(3600, $queue->peek('c')->dueAt - microtime(true), 60);
        $this->cliExpecting(0, 'reschedule', 'c', '--at=@2000000000');
        $this->assertSame(2e9, $queue->peek('c')->dueAt);
        $this->cliExpecting(1, 'reschedule', 'nowhere', '1h');

        $this->assertSame("2 cancelled\n", $this->cliExpecting(0, 'cancel', 'a', 'b', 'nowhere'));
        $this->assertSame(1, $this->cli('cancel', 'nowhere')->exitCode);

        $this->cliExpecting(0, 'pause');
        $this->assertTrue($queue->isPaused());
        $this->cliExpecting(0, 'resume');
        $this->assertFalse($queue->isPaused());
        $this->cliExpecting(0, 'pause', '--for=300ms', '--queue=x', '--queue=y', '--create');
        $this->assertTrue((new DelayQueue('y', $this->redis->dsn()))->isPaused());
        Wait::until(fn () => !(new DelayQueue('x', $this->redis->dsn()))->isPaused(), 10, 'the pause ends by itself');
    }

    /** @dataProvider wrongCommandLines */
    #[\PHPUnit\Framework\Attributes\DataProvider('wrongCommandLines')]
    public function testWrongUsageIsOneLineAndChangesNothing(string ...$arguments): void
    {
        $result = $this->cli(...$arguments);
        $this->assertSame(2, $result->exitCode, $result->errors);
        $this->assertSame('', $result->output);
        $this->assertMatchesRegularExpression('/^delayqueue: .+\n$/D', $result->errors);
        $this->assertSame([], $this->queue()->queues());
    }

    /** @return iterable<string, list<string>> */
    public static function wrongCommandLines(): iterable
    {
        $lines = [
            'nosuch', 'push 1 --nosuch', 'push {', 'push 1 --delay=soon', 'push 1 --delay=1 --at=now', 'push 1 --at=nonsense', 'push 1 --priority=-1',
            'push 1 --max-attempts=x', 'push 1 --on-duplicate=maybe', 'push 1 --on-expiry=maybe', 'push 1 --expires=-1s', 'push 1 --expires=1h --retry-until=1h',
            'push 1 --queue=a --queue=b', 'push 1 --dsn=http://x', 'push 1 --prefix=',
            'list nosuch', 'list ready --limit=0', 'list ready --format=xml', 'kick a --max=1', 'reschedule a', 'cancel', 'stats --watch=x',
            'work', 'work nosuch', 'work nosuch --processes=0', 'work nosuch --log=xml', 'work nosuch --max-jobs=x', 'serve', 'load nosuch', 'purge nosuch',
        ];
        foreach ($lines as $line) {
            yield $line => explode(' ', $line);
        }
    }

    public function testRedisThatIsAwayOrRefusesHasItsOwnExitCode(): void
    {
        $errors = $this->cliExpecting(3, 'stats', '--dsn=redis://user:s3cret@127.0.0.1:1/0');
        $this->assertMatchesRegularExpression('~^delayqueue: .*redis://user:\*\*\*@127\.0\.0\.1:1/0.*\n$~D', $errors);
        $verbose = $this->cliExpecting(3, 'stats', '-v', '--dsn=redis://user:s3cret@127.0.0.1:1/0');
        $this->assertStringContainsString('StatsCommand', $verbose, 'where it came from');
        $wrong = $this->cliExpecting(2, 'resume', '-v', 'redis://user:s3cret@127.0.0.1:1/0');
        $this->assertStringNotContainsString('s3cret', $errors . $verbose . $wrong);
        $this->assertStringContainsString('redis://a:***@b', $this->cliExpecting(2, 'resume', 'redis://a:PASSWORD@b'), 'somebody\'s password, and no advice');
        $this->assertStringContainsString('redis://u:***@b', $this->cliExpecting(2, 'resume', 'redis://u:ab@s3cret@b'), 'an @ that nobody has encoded');

        $this->redis->ask('CONFIG', 'SET', 'requirepass', 'open-sesame');
        $this->assertStringContainsString('the DSN has none: redis://:PASSWORD@… or redis://USER:PASSWORD@… (user', $this->cliExpecting(3, 'stats'));
        $this->redis->ask('CONFIG', 'SET', 'requirepass', '');
        $this->redis->ask('SET', 'dq:{full}:jobs', 'not a hash');
        $this->cliExpecting(4, 'push', '1', '--queue=full');
    }

    public function testQueueAndPrefixComeFromTheEnvironmentUnlessTheyAreGiven(): void
    {
        $environment = ['DELAYQUEUE_QUEUE' => 'from-environment', 'DELAYQUEUE_PREFIX' => 'px'];
        $this->finish($this->startWith($environment, 'push', '1', '--id=a'));
        $this->finish($this->startWith($environment, '--queue=given', 'push', '1', '--id=b'));
        $open = fn (string $name) => new DelayQueue($name, $this->redis->dsn(), ['prefix' => 'px']);
        $this->assertSame(['a', 'b'], [$open('from-environment')->peekReady()?->id, $open('given')->peekReady()?->id]);
    }

    public function testPurgeAsksOnATerminalAndNowhereElse(): void
    {
        $queue = $this->queue();
        $queue->pushMany([['payload' => 1], ['payload' => 2, 'delay' => 60]]);
        $this->assertStringContainsString('--force', $this->cliExpecting(2, 'purge'));
        $this->assertSame(2, count($queue));

        foreach (['n' => 2, '' => 2, 'y' => 1] as $answer => $left) {
            $terminal = $this->onTerminal('purge ready', "Delete 1 ready jobs of queue $this->queueName? [y/N]", (string) $answer);
            $this->assertSame($left === 2 ? 1 : 0, $terminal->exitCode(), $terminal->rest());
            $this->assertSame($left, count($queue));
        }
        $this->assertSame("1 deleted\n", $this->cliExpecting(0, 'purge', '--force'));
        $this->assertSame(0, count($queue));
    }

    /** Runs a command on a pseudo terminal, and answers its question. */
    private function onTerminal(string $command, string $question, string $answer): Process
    {
        $line = implode(' ', array_map(escapeshellarg(...), [PHP_BINARY, self::BINARY])) . " $command";
        $terminal = new Process(['script', '--quiet', '--return', '--flush', '--command', $line, '/dev/null'], $this->environment());
        $asked = '';
        Wait::until(function () use ($terminal, &$asked, $question): bool {
            $asked .= $terminal->said();

            return str_contains($asked, $question);
        }, 20, $question);
        $terminal->say($answer);

        return $terminal;
    }
}
