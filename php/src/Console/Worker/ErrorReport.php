<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

use DelayQueue;
use DelayQueue\Bury;
use DelayQueue\Console\Failure;
use DelayQueue\Console\Text;
use DelayQueue\Flow\Follow;
use DelayQueue\Middleware\Pipeline;
use DelayQueue\Release;
use DelayQueue\Worker\Caller;
use DelayQueue\Worker\HandlerObject;
use DelayQueue\Worker\TaskRouter;
use DelayQueue\Worker\Tasks;
use Throwable;

/** An exception as a line of the log has it. Arguments of calls are left out, because they may be secrets. */
final class ErrorReport
{
    private const CAUSES = 3;
    private const FRAMES = 5;
    private const LENGTH = 1000;

    /** Stand between the loop and the handler, and say nothing of the handler's mistake. The extension leaves them out of lastError, too. */
    private const BETWEEN = [
        JobLog::class, Follow::class, Pipeline::class, Caller::class, HandlerObject::class, TaskRouter::class,
        Tasks::class,
    ];

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
        $trace = self::trace($error);

        return $trace === [] ? $fields : $fields + ['trace' => $trace];
    }

    /** Its top, down to the handler. @return list<string> */
    private static function trace(Throwable $error): array
    {
        $lines = [];
        $frames = $error->getTrace();
        foreach ($frames as $number => $frame) {
            if (count($lines) === self::FRAMES || self::isLoop($frame)) {
                break;
            }
            if (!self::isBetween($frame)) {
                $isPlaced = isset($frame['file'], $frame['line']) && !self::isBetween($frames[$number + 1] ?? []);
                $place = $isPlaced ? "{$frame['file']}({$frame['line']})" : '[internal function]';
                $lines[] = self::short('#' . count($lines) . " $place: " . ($frame['class'] ?? '') . ($frame['type'] ?? '') . "{$frame['function']}()");
            }
        }

        return $lines;
    }

    /** @param array<string, mixed> $frame */
    private static function isLoop(array $frame): bool
    {
        return ($frame['class'] ?? '') === DelayQueue::class && in_array($frame['function'], ['consume', 'drain'], true);
    }

    /** @param array<string, mixed> $frame */
    private static function isBetween(array $frame): bool
    {
        return in_array($frame['class'] ?? '', self::BETWEEN, true);
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
