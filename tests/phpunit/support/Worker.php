<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Support;

/** A process in consume(); its jobs say what to do, see programs/worker.php. */
final class Worker extends Process
{
    /**
     * @param array<string, mixed> $options of consume(), and 'queue' for options of DelayQueue
     * @param string $events 'all', or names separated by commas
     * @param array<string, string> $settings ini settings
     */
    public function __construct(string $dsn, string $queues, array $options = [], string $events = '', array $settings = [])
    {
        $program = dirname(__DIR__) . '/programs/worker.php';
        parent::__construct([...Php::command($settings), $program, $dsn, $queues, json_encode((object) $options), $events]);
        $this->hear('ready');
    }

    /** @return list<string> what it says until it ends, line by line, less the time */
    public function lines(float $seconds = 15.0): array
    {
        $lines = array_filter(explode("\n", $this->rest($seconds)));

        return array_values(preg_grep('/^returned at/', $lines, PREG_GREP_INVERT));
    }
}
