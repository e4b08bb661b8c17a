<?php

declare(strict_types=1);

namespace DelayQueue\Console\Database;

use DelayQueue\Console\ExitCode;
use DelayQueue\Console\Failure;
use DelayQueue\Console\Worker\Notices;
use Throwable;

/** Says what has failed and will be tried again: an error that stays once a minute. */
final class FailureLog
{
    private const SAY_EVERY = 60_000_000_000;

    private ?Throwable $last = null;

    /** @var array<string, int> when lines were said, by hrtime() */
    private array $said = [];

    /** @param string $event in JSON */
    public function __construct(private readonly Notices $notices, private readonly string $event)
    {
    }

    public function add(string $what, Throwable $error): void
    {
        $this->last = $error;
        $line = Failure::line($error);
        // A pause that grows is no news.
        $key = preg_replace('/ in [\d.]+ s$/D', '', $what) . $line;
        $this->said = array_filter($this->said, static fn (int $at): bool => hrtime(true) - $at < self::SAY_EVERY);
        if (!isset($this->said[$key])) {
            $this->said[$key] = hrtime(true);
            $this->notices->say($this->event, "$what: $line");
        }
    }

    /** Of a command that has ended: that of its last failure. */
    public function exitCode(): int
    {
        return $this->last === null ? ExitCode::OK : Failure::exitCode($this->last);
    }
}
