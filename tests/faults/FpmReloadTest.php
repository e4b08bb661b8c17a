<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Faults;

use DelayQueue\Tests\Faults\Support\FaultTestCase;
use DelayQueue\Tests\Faults\Support\Single;
use DelayQueue\Tests\Support\FastCgi;
use DelayQueue\Tests\Support\Folder;
use DelayQueue\Tests\Support\Fpm;

/** php-fpm is reloaded again and again while its pages push. */
final class FpmReloadTest extends FaultTestCase
{
    private Folder $folder;

    private ?Fpm $fpm = null;

    protected function setUp(): void
    {
        $this->folder = new Folder();
        $this->setup = new Single([]);
    }

    protected function tearDown(): void
    {
        $this->fpm?->stop();
        parent::tearDown();
        $this->folder->remove();
    }

    /**
     * @dataProvider graces
     *
     * @param string $grace how long php-fpm waits for requests when it reloads
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('graces')]
    public function testEachPushIsThereOrWasNotAnswered(string $grace, bool $answersAll): void
    {
        $this->fpm = new Fpm($this->folder, ['pm.max_children' => '4', 'request_terminate_timeout' => '20s'], grace: $grace);
        [$answered, $unanswered] = [[], []];
        for ($reload = 0; $reload < 30; $reload++) {
            $requests = [];
            for ($n = 0; $n < 8; $n++) {
                $id = "$reload-$n";
                $requests[$id] = $this->push($id);
            }
            usleep(random_int(0, 30_000));
            $this->fpm->reload();
            foreach ($requests as $id => $request) {
                $response = $request?->response();
                $isDone = $response?->finished && (json_decode($response->body, true)['result'] ?? null) === $id;
                $isDone ? $answered[] = $id : $unanswered[] = $id;
            }
        }
        $queue = new \DelayQueue('page', $this->setup->dsn());
        $done = [];
        while ($jobs = $queue->reserveMany(100)) {
            foreach ($jobs as $job) {
                $this->assertSame(['of' => $job->id], $job->payload);
                $this->assertArrayNotHasKey($job->id, $done, 'no push was stored twice');
                $done[$job->id] = true;
            }
            $queue->ackMany(...$jobs);
        }
        fwrite(STDERR, sprintf("\nphp-fpm, grace %s: 30 reloads, %d pushes answered, %d not, %d stored\n", $grace, count($answered), count($unanswered), count($done)));
        $this->assertSame([], array_diff($answered, array_keys($done)), 'answered and lost');
        $this->assertSame(0, $queue->count());
        $answersAll && $this->assertSame([], $unanswered);
        $this->assertGreaterThan(50, count($answered));
    }

    /** @return array<string, array{string, bool}> */
    public static function graces(): array
    {
        return ['requests are waited for' => ['10s', false], 'requests are reset' => ['0', false]];
    }

    private function push(string $id): ?FastCgi
    {
        try {
            return $this->fpm->begin('page.php', ['do' => 'push', 'id' => $id, 'dsn' => $this->setup->dsn()]);
        } catch (\RuntimeException) {
            return null; // no php-fpm listens at this moment
        }
    }
}
