<?php

declare(strict_types=1);

namespace DelayQueue\Tests\CommandLine;

use DelayQueue\Console\JobOptions;
use DelayQueue\NewJob;
use DelayQueue\State;
use DelayQueue\Tests\Support\CliTestCase;

/** Jobs that are pushed from the command line: their options, payloads, ids and headers. */
final class CliPushTest extends CliTestCase
{
    public function testAPushThatWaitsForItsPayloadSaysSo(): void
    {
        $push = $this->start('push', '--id=slow');
        $this->heard($push, '/^delayqueue: waiting for the payload on standard input$/m');
        $push->say('{"order": 4711}');
        $this->assertSame("slow\n", $this->finish($push)->output);
        $this->assertSame(['order' => 4711], $this->queue()->peek('slow')?->payload);
    }

    public function testAPushedJobIsWhatItWasToldToBe(): void
    {
        $id = $this->cliExpecting(
            0, 'push', '{"a": {}, "n": 1.0}', '--id=one', '--delay=15m', '--priority=5', '--ttr=30s', '--max-attempts=3', '--backoff=1h 2h', '--timeout=20',
        );
        $this->assertSame("one\n", $id);
        $job = $this->queue()->peek('one');
        $this->assertSame('{"a": {}, "n": 1.0}', $job->body, 'byte for byte');
        $this->assertSame([State::Delayed, 5, 30.0, 3], [$job->state, $job->priority, $job->ttr, $job->maxAttempts]);
        $this->assertEqualsWithDelta(900, $job->dueAt - $job->createdAt, 10, 'createdAt is the clock of the producer');

        $this->queue()->reserveJob('one')->fail();
        $this->assertEqualsWithDelta(3600, $this->queue()->peek('one')->dueAt - microtime(true), 60);
    }

    public function testEachParameterOfAJobIsAnOptionWithItsHelp(): void
    {
        $names = array_keys(get_class_vars(NewJob::class));
        $this->assertSame($names, ['payload', ...array_keys(JobOptions::types())]);
        $help = $this->cliExpecting(0, 'push', '--help');
        foreach (array_diff($names, ['payload']) as $name) {
            $this->assertStringContainsString('--' . JobOptions::option($name) . '=', $help);
            $this->assertStringNotContainsString("As \$$name of", $help, 'JobOptions::HELP says what it is for');
        }
    }

    public function testAWrongOptionIsNamedAsItIsWritten(): void
    {
        $errors = [
            '--max-attempts=many' => '--max-attempts must be a whole number',
            '--max-wait=1m' => 'max-wait must not be given without an id and OnDuplicate::Replace',
            '--ttr=1year' => '--ttr must be a duration',
            '--ttr=40d' => 'ttr must be between 0.1 seconds and 30 days',
            '--unique=1795412800' => '--unique must be a duration, and 1795412800 looks like a Unix time',
            '--on-duplicate=maybe' => '--on-duplicate must be fail, keep or replace',
            '--on-expiry=maybe' => '--on-expiry must be bury or drop',
            '--group=' => 'group must be between 1 and 200 bytes long',
        ];
        foreach ($errors as $option => $words) {
            $this->assertStringStartsWith("delayqueue: $words", $this->cliExpecting(2, 'push', '1', $option));
        }
        $this->assertCount(0, $this->queue());
    }

    public function testAPayloadComesFromStandardInputAndMayBeBytes(): void
    {
        foreach ([['push', '-', '--raw'], ['push', '--raw']] as $arguments) {
            $process = $this->start(...$arguments);
            $process->say("\xff\0binary");
            $id = trim($this->finish($process)->output);
            $this->assertSame("\xff\0binary\n", $this->queue(['format' => 'raw'])->peek($id)->body);
        }
        $this->cliExpecting(0, 'push', '1', '--id=moment', '--at=2040-01-31T12:00:00.250Z');
        $this->assertSame(2211624000.25, $this->queue()->peek('moment')->dueAt);
    }

    public function testAWrongPayloadOrBackoffIsToldInTheWordsOfTheCommandLine(): void
    {
        $empty = 'the payload is empty: give JSON as an argument or on standard input; --raw takes bytes, also none';
        foreach (['', ' '] as $payload) {
            $this->assertSame("delayqueue: $empty\n", $this->cliExpecting(2, 'push', $payload));
        }
        $this->assertStringStartsWith('delayqueue: --backoff has the delay "foo", which must be ', $this->cliExpecting(2, 'push', '1', '--backoff=foo 3'));
        $this->cliExpecting(0, 'push', '', '--raw');
    }

    public function testADuplicateIsHandledAsItWasTold(): void
    {
        $this->cliExpecting(0, 'push', '1', '--id=twice');
        $this->assertStringContainsString('twice', $this->cliExpecting(1, 'push', '2', '--id=twice'));
        $this->cliExpecting(0, 'push', '2', '--id=twice', '--on-duplicate=keep');
        $this->assertSame(1, $this->queue()->peek('twice')->payload);
        $this->cliExpecting(0, 'push', '2', '--id=twice', '--on-duplicate=replace');
        $this->assertSame(2, $this->queue()->peek('twice')->payload);
    }

    public function testHeadersArePushedAndShown(): void
    {
        $this->cliExpecting(0, 'push', '1', '--id=a', '--header=tenant: acme', '--header=note:  two: parts ', '--header=7:seven', '--header=empty:');
        $headers = ['tenant' => 'acme', 'note' => 'two: parts ', '7' => 'seven', 'empty' => ''];
        $this->assertEquals($headers, $this->queue()->peek('a')->headers);

        $text = $this->cliExpecting(0, 'show', 'a');
        $this->assertMatchesRegularExpression('/^header +tenant: acme$.*^payload +1$/ms', $text);
        $this->assertMatchesRegularExpression('/^header +7: seven$/m', $text);
        $this->assertSame(4, preg_match_all('/^header /m', $text));
        $this->assertEquals($headers, $this->json('show', 'a', '--format=json')['headers']);
        $this->assertEquals($headers, $this->json('list', 'ready', '--format=json')[0]['headers']);
        $this->assertStringNotContainsString('acme', $this->cliExpecting(0, 'list', 'ready'));

        $this->cliExpecting(0, 'push', '1', '--id=none');
        $this->assertStringNotContainsString('header', $this->cliExpecting(0, 'show', 'none'));
        $this->assertStringContainsString('"headers":{}', $this->cliExpecting(0, 'show', 'none', '--format=json'), 'an object');
    }

    public function testAWrongHeaderIsNamedByItsNumberAndNotByItsValue(): void
    {
        $wrong = fn (string ...$headers): string => $this->cliExpecting(2, 'push', '1', ...array_map(static fn (string $line) => "--header=$line", $headers));
        $this->assertStringContainsString("--header number 2 is not of the form 'name: value'", $errors = $wrong('a: b', 'Bearer s3cret'));
        $this->assertStringNotContainsString('s3cret', $errors);
        $this->assertStringContainsString('--header number 2 says a again', $wrong('a: b', 'a: c'));
        $this->assertStringContainsString('headers', $wrong(': nameless'));
        $this->assertStringContainsString('headers', $wrong('not a name: x'));
        $this->assertStringContainsString('headers', $wrong('large: ' . str_repeat('x', 9000)));
        $this->assertSame(0, count($this->queue()));
    }
}
