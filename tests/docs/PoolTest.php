<?php

declare(strict_types=1);

namespace DelayQueue\Tests\DocsSite;

use DelayQueue;
use DelayQueue\Testing\InteractsWithDelayQueue;
use DelayQueue\Testing\RedisServer;
use DelayQueue\Tests\Support\Folder;
use DelayQueue\Tests\Support\Fpm;
use PHPUnit\Framework\TestCase;

/** docs/recipes/php-fpm.md tells the truth: pages do not see the environment of php-fpm, and find Redis by their pool. */
final class PoolTest extends TestCase
{
    use InteractsWithDelayQueue;

    private const PAGE = <<<'PHP'
        <?php
        if (ini_get('delayqueue.dsn') === '' && getenv('DELAYQUEUE_DSN') === false) {
            exit('told nothing');
        }
        (new DelayQueue('orders'))->push('paid', id: 'by-a-page');
        echo 'pushed';
        PHP;

    /**
     * @dataProvider pools
     *
     * @param array<string, string> $pool
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('pools')]
    public function testAPageFindsRedis(array $pool, string $answer): void
    {
        $folder = new Folder();
        file_put_contents("$folder->path/page.php", self::PAGE);
        $dsn = RedisServer::shared()->dsn();
        $pool = array_map(static fn (string $value): string => $value === 'DSN' ? "\"$dsn\"" : $value, $pool);
        $fpm = new Fpm($folder, $pool + ['clear_env' => 'yes']);
        try {
            $this->assertSame($answer, $fpm->get("$folder->path/page.php")->body);
            $this->assertSame($answer === 'pushed' ? 1 : 0, count(new DelayQueue('orders')));
        } finally {
            $fpm->stop();
            $folder->remove();
        }
    }

    /** @return array<string, array{array<string, string>, string}> */
    public static function pools(): array
    {
        return [
            'by its setting' => [['php_admin_value[delayqueue.dsn]' => 'DSN'], 'pushed'],
            'not by the environment' => [[], 'told nothing'],
            'by a variable that the pool hands on' => [['env[DELAYQUEUE_DSN]' => '$DELAYQUEUE_DSN'], 'pushed'],
            'by the whole environment' => [['clear_env' => 'no'], 'pushed'],
        ];
    }
}
