<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DelayQueue\State;
use DelayQueue\Tests\Support\ProcessTestCase;
use DelayQueue\Tests\Support\Wait;
use DelayQueue\Tests\Support\Worker;

/** Jobs that were fetched ahead of the batch in hand: wherever the worker ends, they are not lost, nor counted. */
final class WorkerAheadTest extends ProcessTestCase
{
    private const JOBS = 400;
    private const PREFETCH = 4;
    /** In every other batch the second job asks what to do: the first one of its batch has sent for the next batch. */
    private const FIRST_ASKING = 6;
    private const EVERY = 8;

    private Worker $worker;

    /** @dataProvider ends */
    public function testWhatWasNotStartedIsBackAtOnceAndUncounted(string $deed, int $exitCode, int $acked): void
    {
        $asking = $this->getAhead();
        if ($deed === 'SIGTERM') {
            $this->worker->signal(SIGTERM);
            $deed = 'go';
        }
        $this->worker->say($deed);
        $this->assertSame($exitCode, $this->worker->exitCode(), $this->worker->errors());
        $queue = $this->queue();
        $this->assertSame(0, $queue->count(State::Reserved));
        $this->assertSame($asking - 1 + $acked, $queue->stats()->acked, 'what was done is acknowledged');
        $this->assertSame(self::JOBS - $asking, $queue->count(State::Ready));
        for ($n = $asking + 1; $n <= self::JOBS; $n++) {
            $job = $queue->reserve();
            $this->assertSame(["job-$n", 1], [$job->id, $job->attempts], 'in their old place');
        }
    }

    /** @return array<string, array{string, int, int}> the deed, PHP's exit code, whether it is acknowledged */
    public static function ends(): array
    {
        return [
            'SIGTERM' => ['SIGTERM', 0, 1],
            'stop()' => ['stop', 0, 1],
            'exit()' => ['exit', 3, 0],
            'a fatal error' => ['fatal', 255, 0],
            'no memory left' => ['memory', 255, 0],
        ];
    }

    public function testAPauseGivesThemBackAndTheWorkerGoesOnAfterIt(): void
    {
        $asking = $this->getAhead(['maxJobs' => self::JOBS]);
        $this->worker->signal(SIGUSR2);
        $this->worker->say('go');
        Wait::until(fn () => $this->queue()->count(State::Reserved) === 0, 10, 'it gives back what it has');
        $this->assertSame([$asking, 0], [$this->queue()->stats()->acked, $this->queue()->stats()->failed]);
        $this->worker->signal(SIGCONT);
        $this->finish($asking);
    }

    public function testTheJobsOfAKilledWorkerAreBackWithinTheirTtr(): void
    {
        $asking = $this->getAhead(ttr: 2.0);
        $this->worker->kill();
        $queue = $this->queue();
        Wait::until(static fn () => $queue->count(State::Reserved) === 0, 2 + 4, 'their leases end');
        $held = 0;
        while ($job = $queue->reserve()) {
            $held += $job->attempts - 1;
            $job->ack();
        }
        $this->assertSame(2 * self::PREFETCH, $held, 'what was in hand, and what was behind it');
        $this->assertSame(self::JOBS, $queue->stats()->acked);
        $this->assertGreaterThan(2, $asking);
    }

    public function testAForkInAHandlerTakesNothingWithIt(): void
    {
        $asking = $this->getAhead(['maxJobs' => self::JOBS]);
        $this->worker->say('fork');
        $this->worker->hear('child has 1 thread');
        $this->worker->hear('parent saw 4');
        $this->finish($asking);
    }

    public function testAHandlerMayUseTheQueueMeanwhile(): void
    {
        $asking = $this->getAhead(['maxJobs' => self::JOBS], 'LeaseLost');
        $this->worker->say('nested');
        $this->worker->hear('nested job-' . ($asking + 7));
        $this->finish($asking, 1);
    }

    public function testItCanBeSwitchedOff(): void
    {
        $this->start(['fetchAhead' => false]);
        $this->worker->hear('started job-' . self::FIRST_ASKING . ' 1');
        $this->worker->signal(SIGTERM);
        $this->worker->say('go');
        $this->assertSame(0, $this->worker->exitCode());
        $this->assertSame(2 * self::PREFETCH + 1, $this->queue()->reserve()->token, 'two batches, and this lease');
    }

    /** @param array<string, mixed> $options */
    private function start(array $options, float $ttr = 60.0, string $events = ''): void
    {
        $jobs = [];
        for ($n = 1; $n <= self::JOBS; $n++) {
            $asks = $n % self::EVERY === self::FIRST_ASKING;
            $payload = $asks ? ['do' => 'told', 'status' => 3, 'child' => 'exit'] : [];
            $jobs[] = ['payload' => $payload, 'id' => "job-$n", 'ttr' => $ttr];
        }
        $this->queue()->pushMany($jobs);
        $this->worker = new Worker($this->redis->dsn(), $this->queueName, ['prefetch' => self::PREFETCH] + $options, $events);
    }

    /**
     * A worker that has a batch behind the one in hand. Where the machine was slow it has not, and another job is asked.
     *
     * @param array<string, mixed> $options
     *
     * @return int the number of the job that asks what to do
     */
    private function getAhead(array $options = [], string $events = '', float $ttr = 60.0): int
    {
        $this->start($options, $ttr, $events);
        for ($asking = self::FIRST_ASKING; $asking < self::JOBS; $asking += self::EVERY) {
            $this->worker->hear("started job-$asking 1");
            for ($deadline = microtime(true) + 1; microtime(true) < $deadline; usleep(1000)) {
                if ($this->queue()->count(State::Reserved) === 2 * self::PREFETCH) {
                    return $asking;
                }
            }
            $this->worker->say('go');
        }
        $this->fail('it never got ahead');
    }

    /** Lets all jobs behind this one be handled, each of them once. */
    private function finish(int $asking, int $more = 0): void
    {
        for ($next = $asking + self::EVERY; $next <= self::JOBS; $next += self::EVERY) {
            $this->worker->say('go');
        }
        $said = $this->worker->lines(60);
        $this->assertSame(0, $this->worker->exitCode(), $this->worker->errors());
        $started = array_values(preg_grep('/^started/', $said));
        $this->assertSame(count($started), count(array_unique($started)));
        $this->assertContains('stopped MaxJobs', $said);
        $this->assertSame([], preg_grep('/LeaseLost/', $said));
        $stats = $this->queue()->stats();
        $this->assertSame([self::JOBS + $more, 0, 0], [$stats->acked, $stats->failed, $stats->timedOut]);
        $this->assertSame(0, $this->queue()->count());
    }
}
