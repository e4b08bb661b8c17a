<?php

declare(strict_types=1);

namespace DelayQueue\Tests;

use DelayQueue;
use DelayQueue\ConnectionException;
use DelayQueue\Testing\RedisServer;
use PHPUnit\Framework\TestCase;
use RuntimeException;

/** @group redis */
#[\PHPUnit\Framework\Attributes\Group('redis')]
final class RedisServerTest extends TestCase
{
    public function testItServesUntilStopped(): void
    {
        $server = RedisServer::start();
        $queue = new DelayQueue('default', $server->dsn(), ['persistent' => false]);
        $queue->push('a');
        $this->assertCount(1, $queue);

        $server->flush();
        $this->assertCount(0, $queue);

        $queue->close();
        $server->stop();
        $server->stop();
        $this->assertDirectoryDoesNotExist(self::folder($server->dsn()));
        $this->expectException(ConnectionException::class);
        $queue->push('b');
    }

    public function testOneServerIsSharedByTheProcess(): void
    {
        $this->assertSame(RedisServer::shared(), RedisServer::shared());
    }

    /** Whatever ends a process, its server ends too. */
    public function testItEndsWithTheProcessThatWasKilled(): void
    {
        $code = 'require $argv[1]; echo DelayQueue\Testing\RedisServer::shared()->dsn(), "\n"; posix_kill(getmypid(), SIGKILL);';
        $process = proc_open(
            [PHP_BINARY, '-r', $code, '--', dirname(__DIR__) . '/autoload.php'],
            [1 => ['pipe', 'w']],
            $pipes,
        );
        $dsn = trim((string) fgets($pipes[1]));
        proc_close($process);

        $this->assertStringStartsWith('redis+unix://', $dsn);
        $deadline = microtime(true) + 10;
        while (is_dir(self::folder($dsn)) && microtime(true) < $deadline) {
            clearstatcache();
            usleep(10_000);
        }
        $this->assertDirectoryDoesNotExist(self::folder($dsn));
    }

    public function testABinaryThatIsNotThereIsReportedWithItsCure(): void
    {
        $this->expectException(RuntimeException::class);
        $this->expectExceptionMessage('no /nonexistent/redis-server here: install Redis');
        RedisServer::start('/nonexistent/redis-server');
    }

    public function testAServerThatDoesNotAnswerIsReportedWithItsWords(): void
    {
        $this->expectException(RuntimeException::class);
        $this->expectExceptionMessageMatches('~^/bin/ls does not answer. It logged:.*--port~s');
        RedisServer::start('/bin/ls', patience: 5);
    }

    private static function folder(string $dsn): string
    {
        return dirname((string) parse_url(substr($dsn, strlen('redis+unix://')), PHP_URL_PATH));
    }
}
