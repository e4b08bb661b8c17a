<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

use DelayQueue\Bury;
use DelayQueue\Console\Failure;
use DelayQueue\Console\Text;
use DelayQueue\Release;
use Throwable;

/** What a line of the log says of an exception. Arguments of calls are left out, because they may be secrets. */
final class ErrorReport
{
    private const CAUSES = 3;
    private const FRAMES = 5;
    private const LENGTH = 1000;

    /** @return array{reason: string, at?: string, previous?: list<string>, trace?: list<string>} */
    public static function fields(Throwable $error): array
    {
        $fields = ['reason' => self::short(self::words($error))];
        if ($error instanceof Release || $error instanceof Bury) {
            return $fields; // the handler's wish, and no error
        }
        $fields['at'] = "{$error->getFile()}:{$error->getLine()}";
        for ($cause = $error->getPrevious(); $cause !== null && count($fields['previous'] ?? []) < self::CAUSES; $cause = $cause->getPrevious()) {
            $fields['previous'][] = self::short(self::words($cause) . " in {$cause->getFile()}:{$cause->getLine()}");
        }
        foreach (array_slice($error->getTrace(), 0, self::FRAMES) as $number => $frame) {
            $place = isset($frame['file'], $frame['line']) ? "{$frame['file']}({$frame['line']})" : '[internal function]';
            $fields['trace'][] = self::short("#$number $place: " . ($frame['class'] ?? '') . ($frame['type'] ?? '') . "{$frame['function']}()");
        }

        return $fields;
    }

    /**
     * PHP's words for a fatal error, less the trace of an uncaught exception, which shows arguments.
     *
     * @return array{reason: string}
     */
    public static function ofFatalError(string $message): array
    {
        return ['reason' => self::short(explode("\nStack trace:", $message, 2)[0])];
    }

    /** @param array<string, mixed> $fields */
    public static function text(array $fields): string
    {
        $parts = [$fields['reason'] ?? null, isset($fields['at']) ? "in {$fields['at']}" : null];
        foreach ($fields['previous'] ?? [] as $cause) {
            $parts[] = "caused by $cause";
        }

        return implode('; ', array_filter([...$parts, ...$fields['trace'] ?? []], is_string(...)));
    }

    private static function words(Throwable $error): string
    {
        return explode("\0", $error::class)[0] . ($error->getMessage() === '' ? '' : ": {$error->getMessage()}");
    }

    private static function short(string $text): string
    {
        return Text::short(Failure::withoutPasswords($text), self::LENGTH);
    }
}
