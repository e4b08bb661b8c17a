<?php

declare(strict_types=1);

namespace DelayQueue\Tests\DocsSite;

use DelayQueue;
use DelayQueue\Console\TaskMetrics;
use DelayQueue\Job;
use DelayQueue\Testing\InteractsWithDelayQueue;
use DelayQueue\Tests\Support\Process;
use PHPUnit\Framework\TestCase;

/** The alert rules of php/examples/monitoring/, judged by Prometheus' own tool and by the metrics that the extension writes. */
final class MonitoringTest extends TestCase
{
    use InteractsWithDelayQueue;

    private const FOLDER = __DIR__ . '/../../php/examples/monitoring';

    public function testTheRulesAreUnderstood(): void
    {
        $this->assertStringContainsString('SUCCESS', $this->promtool('check', 'rules', self::FOLDER . '/delayqueue.rules.yml'));
    }

    public function testEachRuleFiresWhenItShouldAndIsQuietOtherwise(): void
    {
        $this->promtool('test', 'rules', self::FOLDER . '/delayqueue.rules.test.yml');
        $rules = $this->found('/^ +- alert: (\w+)$/m', '/delayqueue.rules.yml');
        $tested = array_unique($this->found('/^ +alertname: (\w+)$/m', '/delayqueue.rules.test.yml'));
        sort($rules);
        sort($tested);
        $this->assertSame($rules, $tested, 'every rule is tested');
    }

    public function testTheCommandsOfTheCuresRunAsTheyArePrinted(): void
    {
        $cures = implode("\n", $this->found('/^ +cure: \'(.+)\'$/m', '/delayqueue.rules.yml'));
        preg_match_all('/delayqueue (?:list \w+|[a-z]+)(?: --[\w=-]+)*/', strtr($cures, ['{{ $labels.queue }}' => 'orders']), $commands);
        $this->assertGreaterThan(5, count($commands[0]));
        foreach (array_unique($commands[0]) as $command) {
            $this->delayQueue('orders')->purge();
            $this->metrics(); // a job in each state
            $binary = dirname(__DIR__, 2) . '/php/bin/delayqueue';
            $process = new Process([PHP_BINARY, $binary, ...array_slice(explode(' ', $command), 1)], getenv());
            $output = $process->rest(20);
            $this->assertSame(0, $process->exitCode(20), $command . $output . $process->errors());
        }
    }

    public function testTheRulesNameMetricsThatExist(): void
    {
        $written = $this->metrics();
        $named = array_unique($this->found('/\b(delayqueue_[a-z_]+)/', '/delayqueue.rules.yml'));
        $this->assertNotSame([], $named);
        foreach ($named as $metric) {
            $this->assertMatchesRegularExpression("/^$metric\\{/m", $written, $metric);
        }
        foreach ($this->found('/(\w+="\w+")/', '/delayqueue.rules.yml') as $label) {
            $this->assertStringContainsString($label, $written);
        }
    }

    public function testTheDashboardAsksPrometheusForMetricsThatExist(): void
    {
        $dashboard = json_decode((string) file_get_contents(self::FOLDER . '/delayqueue.dashboard.json'), true, flags: JSON_THROW_ON_ERROR);
        $targets = array_merge(...array_column($dashboard['panels'], 'targets'));
        $this->assertNotSame([], $targets);
        $rules = [];
        $written = $this->metrics();
        foreach (array_column($targets, 'expr') as $number => $expression) {
            $expression = strtr($expression, ['$__rate_interval' => '5m', '$queue' => 'orders']);
            $this->assertStringNotContainsString('$', $expression, 'only variables that Grafana, or the dashboard, knows');
            $rules[] = ['record' => "dashboard:$number", 'expr' => $expression];
            preg_match_all('/\b(delayqueue_[a-z_]+)/', $expression, $named);
            foreach ($named[1] as $metric) {
                $this->assertMatchesRegularExpression("/^$metric\\{/m", $written, $metric);
            }
        }
        $file = tempnam(sys_get_temp_dir(), 'rules');
        try {
            file_put_contents($file, json_encode(['groups' => [['name' => 'dashboard', 'rules' => $rules]]], JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES)); // nearly YAML
            $this->assertStringContainsString('SUCCESS: ' . count($rules) . ' rules found', $this->promtool('check', 'rules', $file));
        } finally {
            unlink($file);
        }
    }

    public function testNoMetricHasASeriesForEachGroup(): void
    {
        $queue = $this->delayQueue('orders');
        $queue->push(1, group: 'tenant-42');
        $queue->pause(group: 'tenant-42');
        $page = $queue->stats()->toPrometheus();
        $this->assertStringContainsString("\ndelayqueue_jobs_blocked{queue=\"orders\"} 1\n", $page);
        $this->assertStringNotContainsString('tenant-42', $page);
    }

    public function testThePageNamesEveryMetric(): void
    {
        preg_match_all('/^# TYPE (\w+)/m', $this->metrics(), $written);
        $page = (string) file_get_contents(__DIR__ . '/../../docs/monitoring.md');
        foreach ($written[1] as $metric) {
            $this->assertStringContainsString("`$metric", $page);
        }
    }

    public function testPrometheusUnderstandsTheMetrics(): void
    {
        $promtool = new Process(['promtool', 'check', 'metrics']);
        $promtool->say($this->metrics());
        $promtool->endInput();
        $output = $promtool->rest(20);
        $this->assertSame(0, $promtool->exitCode(20), $output . $promtool->errors());
    }

    /** Of a queue that has a job in each state. */
    private function metrics(): string
    {
        $queue = $this->delayQueue('orders');
        foreach (['done', 'buried', 'held', 'ready'] as $id) {
            $queue->push($id, id: $id);
        }
        $queue->push('later', delay: '1h');
        $queue->consume(static fn () => null, maxJobs: 1, task: static fn (): string => 'close');
        $queue->reserve()?->bury('no');
        $held = $queue->reserve();
        $this->assertInstanceOf(Job::class, $held);

        return (new DelayQueue('orders'))->stats()->toPrometheus() . TaskMetrics::page($queue);
    }

    private function promtool(string ...$arguments): string
    {
        $promtool = new Process(['promtool', ...$arguments]);
        $output = $promtool->rest(30);
        $this->assertSame(0, $promtool->exitCode(30), $output . $promtool->errors());

        return $output;
    }

    /** @return list<string> */
    private function found(string $pattern, string $file): array
    {
        preg_match_all($pattern, (string) file_get_contents(self::FOLDER . $file), $found);

        return $found[1];
    }
}
