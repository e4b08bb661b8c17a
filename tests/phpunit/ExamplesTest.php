<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DelayQueue\Database\Relay;
use DelayQueue\State;
use DelayQueue\Testing\InteractsWithDelayQueue;
use DelayQueue\Tests\Support\FreePort;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\Wait;
use DomainException;
use PDO;
use PHPUnit\Framework\TestCase;
use Shop;

require_once __DIR__ . '/../../php/examples/order-closing/Shop.php';

/** The examples do what their first lines say. ./build.sh demo runs the page of order-closing as well. */
final class ExamplesTest extends TestCase
{
    use InteractsWithDelayQueue;

    private const EXAMPLES = __DIR__ . '/../../php/examples';

    private string $directory;

    protected function setUp(): void
    {
        $this->directory = sys_get_temp_dir() . '/delayqueue-examples-' . bin2hex(random_bytes(6));
        mkdir($this->directory);
    }

    protected function tearDown(): void
    {
        exec('rm -rf ' . escapeshellarg($this->directory));
    }

    public function testAReminderIsSentOnceWhenItIsDue(): void
    {
        $this->assertSame("will remind alice\n", $this->example('reminders/remind.php', 'alice', '0', 'too early'));
        $this->assertSame("will remind alice\n", $this->example('reminders/remind.php', 'alice', '0', 'your trial ends'));
        $this->assertSame("will remind bob\n", $this->example('reminders/remind.php', 'bob', '3600', 'your trial ends'));

        $this->assertSame("dear alice: your trial ends\n1 sent\n", $this->example('reminders/cron.php'));
        $this->assertSame("0 sent\n", $this->example('reminders/cron.php'));
        $this->assertDelayed('bob', 'reminders');
    }

    public function testARefundIsCheckedAgainUntilItIsThrough(): void
    {
        $queue = $this->delayQueue('refunds');
        $this->example('refund-checks/request.php', '4711');
        $this->example('refund-checks/request.php', '4711');
        $this->assertPushed('refund-4711', 'refunds', 1);
        $this->assertDelayed('refund-4711', 'refunds', 15);

        $queue->reschedule('refund-4711', 0);
        $this->assertSame("refund-4711 is still pending\n", $this->example('refund-checks/worker.php'));
        $info = $queue->peek('refund-4711');
        $this->assertSame([State::Delayed, 'RuntimeException: still pending at check 1'], [$info?->state, strtok((string) $info?->lastError, "\n")]);

        touch("$this->directory/refund-4711");
        $queue->reschedule('refund-4711', 0);
        $this->assertSame("refund-4711 is through\n", $this->example('refund-checks/worker.php'));
        $this->assertQueueEmpty('refunds');
    }

    public function testAnUnpaidOrderIsClosedAndAPaidOneIsLeft(): void
    {
        $shop = new Shop("$this->directory/shop.sqlite");
        $unpaid = $shop->place('teapot', 0.0);
        $paid = $shop->place('teapot', 0.0);
        // A payment whose cancellation has not come to Redis.
        (new PDO("sqlite:$this->directory/shop.sqlite"))->exec("UPDATE orders SET state = 'paid' WHERE number = 2");

        $worker = $this->start('order-closing/worker.php');
        $said = $worker->line() . $worker->line();
        $worker->signal(SIGTERM);

        $this->assertSame(0, $worker->exitCode(), $worker->errors());
        $this->assertStringContainsString("closed $unpaid, attempt 1", $said);
        $this->assertStringContainsString("left $paid, attempt 1", $said);
        $this->assertFalse($shop->pay($unpaid));
        $this->assertQueueEmpty('orders');
    }

    public function testAnOrderThatIsPaidHasNoJobAnyMore(): void
    {
        $shop = new Shop("$this->directory/shop.sqlite");
        $id = $shop->place('teapot', 900.0);
        $this->assertDelayed($id, 'orders', 900);
        $this->assertTrue($shop->pay($id));
        $this->assertQueueEmpty('orders');
    }

    public function testAnOrderThatIsNotPlacedHasNoJob(): void
    {
        $shop = new Shop("$this->directory/shop.sqlite");
        try {
            $shop->place('coffee pot', 900.0);
            $this->fail('the order was placed');
        } catch (DomainException $error) {
            $this->assertSame('no coffee pot left', $error->getMessage());
        }
        $this->assertQueueEmpty('orders');
        $this->assertFalse($shop->pay('order-1'));
    }

    public function testAnOrderIsPlacedWhileRedisIsAway(): void
    {
        $place = 'require $argv[1]; echo (new Shop())->place("teapot", 900.0);';
        $process = new Process([PHP_BINARY, '-r', $place, self::EXAMPLES . '/order-closing/Shop.php'], ['DELAYQUEUE_DSN' => 'redis://127.0.0.1:1'] + $this->environment());
        $this->assertSame('order-1', $process->rest(), $process->errors());
        $this->assertQueueEmpty('orders');
        (new Relay(new PDO("sqlite:$this->directory/shop.sqlite"), after: 0.0))->runOnce();
        $this->assertDelayed('order-1', 'orders', 900);
    }

    /** @dataProvider usages */
    #[\PHPUnit\Framework\Attributes\DataProvider('usages')]
    public function testWithoutArgumentsTheUsageGoesToStandardErrorAlone(string $script, string ...$arguments): void
    {
        $process = $this->start($script, ...$arguments);
        $this->assertSame(['', 2], [$process->rest(15.0), $process->exitCode()]);
        $this->assertMatchesRegularExpression('/^usage: php \w+\.php [A-Z ]+\n$/D', $process->errors(), 'and no warning');
    }

    /** @return list<list<string>> */
    public static function usages(): array
    {
        return [['reminders/remind.php'], ['reminders/remind.php', 'alice', '60'], ['notify/push.php'], ['notify/push.php', '4711'], ['refund-checks/request.php']];
    }

    public function testTheNotifierFindsTheAutoloaderOfAProject(): void
    {
        $examples = "$this->directory/vendor/delayqueue/delayqueue/examples/notify";
        mkdir($examples, 0o700, true);
        copy(self::EXAMPLES . '/notify/worker.php', "$examples/worker.php");
        file_put_contents("$this->directory/vendor/autoload.php", '<?php echo "the autoloader of the project\n"; exit(0);');
        $process = new Process([PHP_BINARY, "$examples/worker.php"], $this->environment());
        $this->assertSame("the autoloader of the project\n", $process->rest(15.0));
        $this->assertStringNotContainsString('/usr/share', (string) file_get_contents("$examples/worker.php"));
    }

    public function testANotificationIsSignedPostedAndTakenOnce(): void
    {
        $port = FreePort::find();
        $receiver = new Process([PHP_BINARY, '-S', "127.0.0.1:$port", self::EXAMPLES . '/notify/receiver.php'], $this->environment());
        Wait::until(static fn () => @fsockopen('127.0.0.1', $port), 15.0, 'the receiver');
        $worker = new Process(
            [PHP_BINARY, self::EXAMPLES . '/notify/worker.php'],
            ['NOTIFY_HOSTS' => "127.0.0.1:$port"] + $this->environment(),
        );

        foreach ([1, 2] as $time) {
            $said = $this->example('notify/push.php', '4711', "http://127.0.0.1:$port/paid");
            $this->assertSame("paid-4711 will be posted\n", $said);
            $this->assertSame('paid-4711 succeeded, attempt 1', $worker->line(), "time $time");
            Wait::until(fn () => count($this->delayQueue('notify')) === 0, 15.0, 'the acknowledgement');
        }
        $this->example('notify/push.php', '4712', "http://127.0.0.1:$port/paid");
        $this->assertSame('paid-4712 succeeded, attempt 1', $worker->line());
        $this->example('notify/push.php', '4713', 'http://localhost/');
        $this->assertStringStartsWith('paid-4713 buried, attempt 1: the URL is not accepted', $worker->line());
        $forged = stream_context_create(['http' => [
            'method' => 'POST',
            'header' => 'Content-Type: application/json',
            'content' => '{}',
            'ignore_errors' => true,
        ]]);
        $answer = file_get_contents("http://127.0.0.1:$port/paid", context: $forged);
        $worker->signal(SIGTERM);

        $this->assertSame(0, $worker->exitCode(), $worker->errors());
        $this->assertTrue($receiver->isRunning());
        $this->assertSame('not signed with our secret, or too long ago', $answer);
        $taken = array_map(file_get_contents(...), (array) glob("$this->directory/notified-*"));
        sort($taken);
        $this->assertSame(['{"event":"paid","order":"4711"}', '{"event":"paid","order":"4712"}'], $taken);
    }

    /** Runs an example to its end and returns what it printed. */
    private function example(string $script, string ...$arguments): string
    {
        $process = $this->start($script, ...$arguments);
        $output = $process->rest(15.0);
        $this->assertSame(0, $process->exitCode(), $process->errors());

        return $output;
    }

    private function start(string $script, string ...$arguments): Process
    {
        return new Process([PHP_BINARY, self::EXAMPLES . "/$script", ...$arguments], $this->environment());
    }

    /** @return array<string, string> */
    private function environment(): array
    {
        return ['TMPDIR' => $this->directory, 'SHOP_DATABASE' => "$this->directory/shop.sqlite"] + getenv();
    }
}
