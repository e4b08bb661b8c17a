<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Faults;

use DelayQueue\ServerException;
use DelayQueue\State;
use DelayQueue\Tests\Faults\Support\Cluster;
use DelayQueue\Tests\Faults\Support\FaultTestCase;
use DelayQueue\Tests\Faults\Support\Single;
use DelayQueue\Tests\Support\Php;

/** Processes of one version are replaced by those of another, one after the other. */
final class UpgradeTest extends FaultTestCase
{
    /** @group quick */
    public function testTwoVersionsOfTheScriptsServeOneQueueSideBySide(): void
    {
        $this->setup = new Single([]);
        $load = $this->load(['mix' => true]);
        $load->flow(0.5);
        $load->upgrade(extension: $this->withOtherScripts());
        $load->flow(0.5);
        $account = $this->account();
        $account->assertWhole(0);
        $this->assertSame([], $account->errors);
        preg_match('/number_of_cached_scripts:(\d+)/', $this->setup->node()->ask('INFO', 'memory'), $scripts);
        $this->assertGreaterThanOrEqual(8, (int) $scripts[1], 'both versions of push, reserve, ack and the others were used');
    }

    public function testTheNumberOfPartitionsIsRaisedUnderLoad(): void
    {
        $this->setup = new Cluster();
        $load = $this->load(['mix' => true]);
        $load->flow(0.5);
        $load->upgrade(['partitions' => 6]);
        $load->flow(0.5);
        $account = $this->account();
        $account->assertWhole(0);
        $this->assertSame([], $account->errors);
    }

    /** @group quick */
    public function testAJobOfANewerFormatIsSetAsideUntouchedAndTheOthersAreDone(): void
    {
        $this->setup = new Single([]);
        $load = $this->load();
        $node = $this->setup->node();
        $key = 'dq:{' . self::QUEUE . '}:';
        $record = "\x80\0\0\0\0\0\1 of a later version";
        $node->ask('HSET', "{$key}jobs", 'newer', $record);
        $node->ask('ZADD', "{$key}waiting", '1', 'newer');
        $load->flow(0.5);
        $buried = $this->queue()->list(State::Buried);
        $this->assertSame(['newer', 'unknown record format'], [$buried[0]->id, $buried[0]->lastError]);
        $this->assertSame($record, $node->ask('HGET', "{$key}jobs", 'newer'));
        $this->assertSame(1, $this->queue()->cancel('newer'));
        $load->account()->assertWhole(0);
    }

    /** @group quick */
    public function testAQueueOfANewerVersionIsLeftAloneUntilThisOneIsUpdated(): void
    {
        $this->setup = new Single([]);
        $queue = $this->queue();
        $queue->push('before', id: 'before');
        $node = $this->setup->node();
        $key = 'dq:{' . self::QUEUE . '}:waiting';
        $node->ask('RENAME', $key, "$key-of-the-newer-version");
        $node->ask('RPUSH', $key, '9');
        $fetch = static fn () => $queue->consume(static fn () => null, maxTime: 5);
        foreach ([fn () => $queue->push('too new'), fn () => $queue->reserve(), $fetch] as $call) {
            try {
                $call();
                $this->fail('the queue is not of this version');
            } catch (ServerException $e) {
                $this->assertSame('DQSCHEMA', $e->redisCode);
            }
        }
        $node->ask('RENAME', "$key-of-the-newer-version", $key);
        $this->assertSame('before', $queue->reserve()?->id);
    }

    /** This extension with scripts of other bytes, so that Redis knows them by other names. */
    private function withOtherScripts(): string
    {
        $bytes = (string) preg_replace("/\\bcall\\('([A-Z]+)'/", 'call("$1"', file_get_contents(Php::extension()), -1, $changed);
        $this->assertGreaterThan(100, $changed);
        // It dies with the folder of the server.
        $file = "{$this->setup->node()->folder->path}/libdelayqueue.so";
        file_put_contents($file, $bytes);

        return $file;
    }
}
