<?php

declare(strict_types=1);

namespace DelayQueue\Console\Check;

/** How well a queue is, in the words of Nagios. */
enum Level: string
{
    case Ok = 'ok';
    case Warning = 'warning';
    case Unknown = 'unknown';
    case Critical = 'critical';

    /** The exit code that Nagios has for it. */
    public function exitCode(): int
    {
        return match ($this) {
            self::Ok => 0,
            self::Warning => 1,
            self::Critical => 2,
            self::Unknown => 3,
        };
    }

    public function colour(): string
    {
        return match ($this) {
            self::Ok => 'green',
            self::Warning => 'yellow',
            self::Critical => 'red',
            self::Unknown => 'magenta',
        };
    }

    /** The worst of them; of none: ok. */
    public static function worst(self ...$levels): self
    {
        $worst = self::Ok;
        foreach ($levels as $level) {
            $worst = $level->weight() > $worst->weight() ? $level : $worst;
        }

        return $worst;
    }

    public function weight(): int
    {
        return (int) array_search($this, self::cases(), true);
    }
}
