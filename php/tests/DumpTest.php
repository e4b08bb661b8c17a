<?php

declare(strict_types=1);

namespace DelayQueue\Tests;

use DateTimeImmutable;
use DelayQueue\Dump\Dump;
use DelayQueue\Dump\LineException;
use DelayQueue\Dump\Load;
use DelayQueue\JobInfo;
use DelayQueue\State;
use PHPUnit\Framework\TestCase;
use ValueError;

/** Dump and Load as programs use them; what they restore is tested with the command line (tests/phpunit/CliDumpTest.php). */
final class DumpTest extends TestCase
{
    use OnAnyStore;

    public function testAQueueThatWasLoadedHasTheJobsOfTheDump(): void
    {
        $queue = $this->delayQueue('orders');
        $queue->push(['order' => 1], delay: 60, id: 'a', priority: 7, headers: ['tenant' => 'acme']);
        $queue->push(['order' => 2], id: 'b');
        $queue->reserve()?->fail('no money');
        $lines = iterator_to_array(Dump::lines($queue), false);

        $this->assertSame([0 => true, 1 => true], iterator_to_array((new Load())->lines($lines, 'other')));
        $other = $this->delayQueue('other');
        $facts = static fn (?JobInfo $job): array => [$job?->payload, $job?->dueAt, $job?->priority, $job?->headers, $job?->attempts, $job?->lastError];
        foreach (['a', 'b'] as $id) {
            $this->assertSame($facts($queue->peek($id)), $facts($other->peek($id)));
        }
        $this->assertSame([0 => false, 1 => false], iterator_to_array((new Load())->lines($lines)), 'where they came from');
    }

    public function testADumpOfSeveralQueuesHasOneEndAndLoadTellsWhatIsMissing(): void
    {
        [$one, $other] = [$this->delayQueue('one'), $this->delayQueue('other')];
        $one->push(1, id: 'a');
        $other->pushOnce([['receipt' => 'outbox/1', 'payload' => 2, 'id' => 'b']]);
        $lines = iterator_to_array(Dump::lines([$one, $other]));
        $this->assertCount(4, $lines);
        preg_match_all('/"dump":"(\w+)"/', implode($lines), $dumps);
        $this->assertCount(4, $dumps[1], 'each line tells of which dump it is');
        $this->assertCount(1, array_unique($dumps[1]));

        $load = new Load();
        $this->assertSame([], $this->missing($load, $lines));
        $this->assertCount(1, $this->missing($load, array_slice($lines, 0, 3)));
        $this->assertCount(1, $this->missing($load, array_slice($lines, 2)));
        $this->assertCount(1, $this->missing($load, []));
        $this->assertSame([], $this->missing($load, [...Dump::lines([])]), 'a dump of no queues is whole');
    }

    /** @return list<string> */
    private function missing(Load $load, array $lines): array
    {
        iterator_to_array($load->lines($lines));

        return $load->missing();
    }

    public function testAJobThatStaysIsThereOnceWhateverComesAndGoes(): void
    {
        foreach ([$this->delayQueue('orders'), $this->delayQueue('spread', ['partitions' => 3])] as $queue) {
            $moment = new DateTimeImmutable('+1 hour');
            $queue->pushMany(array_map(static fn (int $n): array => ['payload' => 1, 'id' => "job-$n", 'delay' => $moment], range(100, 999)));
            $seen = [];
            foreach (Dump::jobs($queue, State::Delayed) as $job) {
                if (!str_starts_with($job->id, 'job-')) {
                    continue; // with partitions some of the later jobs come
                }
                $seen[] = $job->id;
                if (in_array(count($seen), [350, 600], true)) {
                    // Jobs of this page and the one before go, and earlier ones stay; new ones come before them.
                    $queue->cancel(...array_slice($seen, -200));
                    $queue->pushMany(array_map(static fn (int $n): array => ['payload' => 1, 'id' => "a$job->id-$n", 'delay' => 60], range(1, 7)));
                }
            }
            $this->assertSame([900, 900], [count($seen), count(array_unique($seen))]);
        }
    }

    public function testWhatANewerVersionHasStoredWithAJobIsKept(): void
    {
        // A flag, a trait "w" of two bytes, an option.
        $extras = "\x08\0\x04w\x02ab" . '{"dedupe":"1m"}';
        $queue = $this->delayQueue('orders');
        $queue->pushMany([['payload' => 1, 'id' => 'a', 'extras' => $extras], ['payload' => 2, 'id' => 'b', 'ttr' => 5, 'extras' => $extras]]);
        $queue->reserve()?->fail('no money');
        $this->assertSame([true, true], iterator_to_array((new Load())->lines(Dump::lines($queue), 'other'), false));
        foreach (['a', 'b'] as $id) {
            $this->assertSame($extras, $this->delayQueue('other')->peek($id)?->extras);
        }
        $this->delayQueue('other')->update('a', 3);
        $this->assertSame($extras, $this->delayQueue('other')->peek('a')?->extras);
        $this->assertNull($queue->peek($queue->push(1))?->extras);
        foreach (['', "\x04\0\0{}", "\0\0\x02G\0{}", "\0\0\0[]"] as $wrong) {
            try {
                $queue->pushMany([['payload' => 1, 'extras' => $wrong]]);
                $this->fail('it was stored');
            } catch (ValueError $error) {
                $this->assertStringEndsWith('item 0: "extras" must be the extras of a JobInfo, which this version can keep', $error->getMessage());
            }
        }
    }

    public function testBothWorkJobByJob(): void
    {
        $queue = $this->delayQueue('orders');
        $queue->pushMany(array_map(static fn (int $n): array => ['payload' => $n, 'id' => "job-$n", 'delay' => 60 + $n], range(1, 500)));
        $load = (new Load())->lines(Dump::lines($queue), 'other');
        foreach ($load as $number => $isNew) {
            if ($number === 2) {
                break;
            }
        }
        $this->assertCount(3, $this->delayQueue('other'));
    }

    public function testALineThatIsNoJobEndsTheLoadAndIsNamed(): void
    {
        $this->delayQueue('orders')->push(1, id: 'a', delay: 60);
        $lines = ['first' => [...Dump::lines($this->delayQueue('orders'))][0], 'empty' => "\n", 'second' => '{}'];
        try {
            foreach ((new Load())->lines($lines, 'other') as $key => $isNew) {
                $this->assertSame(['first', true], [$key, $isNew]);
            }
            $this->fail('the second line was loaded');
        } catch (LineException $error) {
            $this->assertSame('second', $error->key);
            $this->assertStringContainsString('line second cannot be loaded: no usable "', $error->getMessage());
        }
        $this->assertCount(1, $this->delayQueue('other'));
    }

    public function testALoadThatKnowsOfTooFewPartitionsLoadsNothing(): void
    {
        $spread = $this->delayQueue('orders', ['partitions' => 2]);
        $spread->pushMany(array_map(static fn (int $n): array => ['payload' => $n, 'id' => "job-$n", 'delay' => 60], range(1, 20)));
        $lines = [...Dump::lines($spread)];
        $spread->purge();
        try {
            iterator_to_array((new Load())->lines($lines));
            $this->fail('it was loaded');
        } catch (LineException $error) {
            $this->assertStringContainsString('set partitions (--partitions) to 2', $error->getMessage());
        }
        $this->assertCount(0, $spread);
        $this->assertSame(20, count(array_filter(iterator_to_array((new Load(options: ['partitions' => 2]))->lines($lines)))));
    }

    public function testAMistakeInTheSettingsIsNotOneOfTheFirstLine(): void
    {
        $this->expectException(ValueError::class);
        new Load('nonsense');
    }

    public function testAQueueIsDumpedByStates(): void
    {
        $queue = $this->delayQueue('orders');
        $queue->push(1, id: 'delayed', delay: 60);
        $queue->push(2, id: 'ready');
        $ids = static fn (State ...$states): array => array_column([...Dump::jobs($queue, ...$states)], 'id');
        $this->assertSame([['delayed', 'ready'], ['ready']], [$ids(), $ids(State::Ready, State::Buried)]);
    }
}
