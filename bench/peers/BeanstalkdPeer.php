<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Peers;

use DelayQueue\Bench\Endpoint;
use DelayQueue\Bench\OneByOne;
use DelayQueue\Bench\Order;
use DelayQueue\Bench\Peer;
use DelayQueue\Bench\Traits;
use LogicException;
use Pheanstalk\Pheanstalk;

/** beanstalkd through Pheanstalk: put with a delay in whole seconds, reserve, delete. */
final class BeanstalkdPeer implements Peer
{
    use OneByOne;

    private const PRIORITY = 1024;

    private const TTR_SECONDS = 60;

    private Pheanstalk $pheanstalk;

    public static function traits(): Traits
    {
        return new Traits(
            'beanstalkd through Pheanstalk; delays in whole seconds, jobs in memory only',
            server: 'beanstalkd',
            packages: ['beanstalkd', 'php-pda-pheanstalk'],
        );
    }

    public function __construct(private readonly Endpoint $endpoint)
    {
        require_once 'Pheanstalk/autoload.php';
        $this->pheanstalk = Pheanstalk::create($endpoint->host, $endpoint->port);
        $this->pheanstalk->useTube($endpoint->queue);
        $this->pheanstalk->watchOnly($endpoint->queue);
    }

    public function push(string $id, int $delayMs, string $payload): void
    {
        $this->pheanstalk->put($payload, self::PRIORITY, (int) ceil($delayMs / 1000), self::TTR_SECONDS);
    }

    public function pushMany(array $jobs): void
    {
        throw new LogicException('beanstalkd puts one job at a time');
    }

    public function take(): ?string
    {
        $job = $this->pheanstalk->reserveWithTimeout(0);
        if ($job === null) {
            return null;
        }
        $this->pheanstalk->delete($job);

        return $job->getData();
    }

    public function fill(int $count, int $delayMs, int $payloadBytes): void
    {
        $stream = stream_socket_client("tcp://{$this->endpoint->host}:{$this->endpoint->port}");
        fwrite($stream, "use {$this->endpoint->queue}\r\n");
        fgets($stream);
        for ($from = 0; $from < $count; $from += 100) {
            $puts = '';
            $to = min($count, $from + 100);
            for ($number = $from; $number < $to; $number++) {
                $delay = (int) ceil(Order::delayMs($number, $delayMs) / 1000);
                $puts .= 'put ' . self::PRIORITY . " $delay " . self::TTR_SECONDS . " $payloadBytes\r\n"
                    . Order::payload($number, $payloadBytes) . "\r\n";
            }
            fwrite($stream, $puts);
            for ($number = $from; $number < $to; $number++) {
                fgets($stream);
            }
        }
        fclose($stream);
    }
}
