<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Console;

use DelayQueue\Console\Application;
use DelayQueue\Tests\OnAnyStore;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Console\Input\ArgvInput;
use Symfony\Component\Console\Output\BufferedOutput;

/**
 * Messages of the command line about mistyped names, changes, and lists of nothing; without a process for each command.
 */
final class HintsTest extends TestCase
{
    use OnAnyStore;

    public static function setUpBeforeClass(): void
    {
        class_exists(SymfonyApplication::class) || require 'Symfony/Component/Console/autoload.php';
    }

    public function testAQueueThatIsNotThereIsRefusedWithTheNearestName(): void
    {
        $this->delayQueue('orders')->push(1, id: 'a');
        $this->delayQueue('mails')->push(1, id: 'a');
        $commands = [
            'list', 'list ready', 'show a', 'cancel a', 'cancel --tag=x --force', 'cancel --group=g --force', 'kick a',
            'kick', 'kick --max=1', 'kick --error=x',
            'update a 1', 'reschedule a 1h', 'reschedule 1h --tag=x', 'move a --to=mails', 'purge --force', 'pause',
            'resume', 'rate-limit 1s', 'dump',
            'groups', 'limit', 'limit g --weight=2', 'receipts', 'forget-receipts a', 'forget', 'stats', 'doctor',
            'doctor --repair', 'metrics',
            'schedules', 'schedules:show a', 'schedules:pause a', 'schedules:resume a', 'schedules:run a',
            'schedules:remove a',
        ];
        foreach ($commands as $command) {
            $this->assertRefused('there is no queue oders; did you mean orders?', "$command --queue=oders");
        }
        $this->assertRefused('there is no queue zzzzzz; there are mails, orders', 'list --queue=zzzzzz');
        $this->assertRefused('there is no queue default; there are mails, orders: --queue names one', 'list');
        $this->assertRefused('there is no queue like nope*; there are mails, orders', 'stats nope*');
        $this->assertRefused('there is no queue like nope?; there are mails, orders', 'stats mails nope?');
        $this->assertSays(
            0,
            "there is no queue like nope*; there are mails, orders\n[]\n",
            'stats nope* --format=json',
        );
        $this->assertSame(0, $this->says('doctor')[0], 'it is about the server');
    }

    public function testACommandThatIsNotThereIsRefusedWithTheOneThatIsMeant(): void
    {
        $meant = [
            'retry' => 'kick', 'failed' => 'list buried', 'jobs' => 'list', 'queues' => 'stats', 'delete' => 'cancel',
            'statz' => 'stats',
            'workers:foo' => 'workers', 'RETRY' => 'kick',
        ];
        foreach ($meant as $command => $name) {
            $this->assertSaysLike(
                2,
                "/^delayqueue: Command \"$command\" is not defined\\. Did you mean .*\\? $name\\b/",
                $command,
            );
        }
        $this->assertRefused("Command \"nonsense\" is not defined. delayqueue alone lists all", 'nonsense');
        $this->assertSaysLike(
            2,
            '/^delayqueue: Command "sched" is ambiguous: schedules, schedules:show, .*:remove$/',
            'sched',
        );
        $this->assertSaysLike(2, '/missing: "id"\); delayqueue show --help says more$/', 'show');
        $this->assertSaysLike(2, '/^delayqueue: there is no state failed; did you mean buried\?$/', 'list failed');
        $this->assertSaysLike(2, '/there is no state orders: .*; --queue names a queue$/', 'list orders');
    }

    public function testWhatIsNoMomentNoPortAndNoFileOfSchedulesIsRefused(): void
    {
        $this->assertRefused('--at=x is not a moment', 'push 1 --at=x');
        $this->assertRefused('--expires=EST is neither a duration nor a moment', 'push 1 --expires=EST');
        $this->assertCount(0, $this->delayQueue());
        $words = "its option 'prefx' is unknown; 'prefix' is an option of the queue, and stands beside the DSN";
        $this->assertRefused("dsn must be a valid DSN, $words", 'stats --dsn=redis://h?prefx=a');
        $this->assertSame(0, $this->says('push 1 --at=now')[0]);
        $folder = '--dir=' . sys_get_temp_dir() . '/delayqueue-' . getmypid();
        $this->assertRefused('--port must be a whole number from 0 to 65535', "serve $folder --port=99999");
        @rmdir(substr($folder, strlen('--dir=')));
        $text = dirname(__DIR__, 3) . '/README.md';
        ob_start();
        $this->assertRefused("$text is not PHP, and the name of a file of JSON ends in .json", "schedules:set $text");
        $this->assertSame('', ob_get_clean(), 'PHP prints such a file');
    }

    public function testAChangeSaysWhatWasDone(): void
    {
        $this->delayQueue('orders')->push(1, delay: 60, id: 'a', group: 'g');
        $says = [
            'resume' => '/^orders: was not paused$/', 'pause' => '/^orders: paused until resume$/',
            'resume ' => '/^orders: resumed$/',
            'rate-limit 30s' => '/^orders: closed for 30 s, until [^,]+Z$/',
            'rate-limit 3s' => '/, or longer: it was closed already$/',
            'resume --group=g' => '/^orders, group g: was not paused$/', 'update a 2' => '/^job a is updated$/',
            'reschedule a 1h' => '/^job a is rescheduled$/', 'limit g --weight=3' => '/^group g weight 3 *$/m',
            'limit --others --concurrency=2' => '/^all other groups concurrency 2 *$/m',
            'limit --total --rate=9/1s' => '/^all jobs together rate 9\/1s/m',
            'limit g --forget' => '/^group g has no limits of its own in queue orders$/',
        ];
        foreach ($says as $command => $pattern) {
            $this->assertSaysLike(0, $pattern, trim($command) . ' --queue=orders');
        }
        [, $json] = $this->says('limit g --ordered --queue=orders --format=json');
        $this->assertTrue(json_decode($json, true, flags: JSON_THROW_ON_ERROR)['groups']['g']['ordered']);
    }

    public function testAListOfNothingSaysSoAndJsonStaysJson(): void
    {
        $this->delayQueue('orders')->push(1, delay: 60, id: 'a');
        $says = [
            'receipts' => 'there are no receipts in queue orders',
            'receipts --starting-with=x' => 'there are no receipts that you look for in queue orders',
            'groups' => 'there are no groups with waiting or reserved jobs in queue orders',
            'limit' => 'no limits are set in queue orders',
            'limit g' => 'group g has no limits of its own in queue orders',
            'list buried' => 'there are no buried jobs in queue orders',
            'list --after=a' => 'there are no jobs behind that in queue orders',
            'list ready --group=g' => 'there are no ready jobs of group g in queue orders',
            'workers' => 'no worker runs for queue orders',
            'workers web1:5' => 'no worker runs at web1:5 for queue orders',
        ];
        foreach ($says as $command => $words) {
            $this->assertSays(0, "$words\n", "$command --queue=orders");
            [$code, $json] = $this->says("$command --queue=orders --format=json");
            $this->assertSame(0, $code);
            $this->assertIsArray(json_decode($json, true, flags: JSON_THROW_ON_ERROR), $command);
        }
        $this->assertSays(0, "no worker runs\n", 'workers');
        $this->assertSays(0, "there are no buried jobs in any queue\n", 'list buried --all');
        $this->assertSays(0, "there are no schedules in queue schedules\n", 'schedules');
        $this->assertSays(1, "0 told to stop\nno worker runs on web1\n", 'workers:stop web1');
    }

    public function testListWithoutAStateHasTheJobsOfAllStates(): void
    {
        $queue = $this->delayQueue('orders');
        foreach (['held', 'buried', 'ready'] as $id) {
            $queue->push($id, id: $id, group: 'g');
        }
        $queue->push('later', delay: 60, id: 'later');
        $queue->reserveJob('buried')->bury('no');
        $held = $queue->reserveJob('held');
        $all = ['later', 'ready', 'held', 'buried'];
        $lists = [
            '' => $all, '--all' => $all, '--limit=2' => ['later', 'ready'], '--offset=1 --limit=2' => ['ready', 'held'],
            '--offset=3' => ['buried'],
            '--after=ready' => ['held', 'buried'], '--after=ready --offset=1' => ['buried'],
            '--group=g' => ['ready', 'held'],
            '--where=e' => ['later', 'ready', 'held', 'buried'], '--where=e --after=later --limit=1' => ['ready'],
            '--offset=' . PHP_INT_MAX => [],
        ];
        foreach ($lists as $options => $ids) {
            [$code, $json] = $this->says(
                "list $options --format=json" . ($options === '--all' ? '' : ' --queue=orders'),
            );
            $this->assertSame([0, $ids], [$code, array_column(json_decode($json, true), 'id')], $options);
        }
        $this->assertSaysLike(
            0,
            '/^id +state +group .*\nlater +delayed .*\n.*\n.*\nburied +buried .*$/',
            'list --queue=orders',
        );
        $this->assertSaysLike(0, '/\n2 of 4; go on with --after=\S+$/', 'list --queue=orders --limit=2');
        $this->assertSame('held', $held->id);
    }

    public function testAPortThatIsNoneIsRefusedBeforeAnAddressIsPrinted(): void
    {
        foreach (['metrics --listen', 'dashboard --listen'] as $command) {
            $option = strrchr($command, ' ');
            $this->assertSaysLike(
                2,
                "/^delayqueue:$option must be an address and a port, such as \\S+, not 127\\.0\\.0\\.1:99999\$/",
                "$command=127.0.0.1:99999",
            );
        }
    }

    public function testAShellCompletesNamesOfQueues(): void
    {
        $this->delayQueue('orders')->push(1);
        $this->delayQueue('mails')->push(1);
        $queues = "mails\norders\n";
        $lines = [
            'list --queue=' => $queues, 'cancel a --queue=o' => $queues, 'move a --to=' => $queues, 'stats ' => $queues,
            'forget ' => $queues,
            'list ' => "delayed\nready\nreserved\nburied\n", 'cancel --state=' => "delayed\nready\nreserved\nburied\n",
            'show ' => "\n",
            'stats --format=' => "text\njson\nprometheus\n",
        ];
        foreach ($lines as $line => $values) {
            $words = explode(' ', $line);
            $inputs = '-idelayqueue -i' . implode(' -i', array_filter($words, strlen(...)));
            $this->assertSays(0, $values, '_complete -sbash -S1 -c' . count($words) . " $inputs");
        }
        $this->assertSaysLike(0, '/^stats$/m', '_complete -sbash -S1 -c1 -idelayqueue -ista');
        $this->assertSaysLike(0, '/^bash$/m', '_complete -sbash -S1 -c2 -idelayqueue -icompletion');
        $gone = '--dsn=redis+unix:///nowhere/redis.sock';
        $this->assertSays(0, "\n", "_complete -sbash -S1 -c3 -idelayqueue -ilist -i$gone -i--queue=");
    }

    /** @return array{int, string} exit code and what it has said */
    private function says(string $command): array
    {
        $output = new BufferedOutput();
        $words = array_filter(explode(' ', $command), strlen(...));
        $code = (new Application())->answer(new ArgvInput(['delayqueue', ...$words]), $output);

        return [$code, $output->fetch()];
    }

    private function assertSays(int $code, string $words, string $command): void
    {
        $this->assertSame([$code, $words], $this->says($command), $command);
    }

    private function assertRefused(string $why, string $command): void
    {
        $this->assertSays(2, "delayqueue: $why\n", $command);
    }

    private function assertSaysLike(int $code, string $pattern, string $command): void
    {
        [$found, $words] = $this->says($command);
        $this->assertMatchesRegularExpression($pattern, rtrim($words, "\n"), $command);
        $this->assertSame($code, $found, $command);
    }
}
