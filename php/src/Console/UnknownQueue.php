<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue\Internal\Nearest;
use DelayQueue\ServerException;

/** Refuses queues that are not there: the error names those that may be meant. */
final class UnknownQueue
{
    /** How many queues an error names. */
    private const NAMED = 20;

    /**
     * A queue is there if it is in the list of queues, has jobs, or is paused.
     *
     * @throws UsageException
     */
    public static function refuse(Target $target, string ...$names): void
    {
        $known = self::known($target) ?? $names;
        foreach (array_diff($names, $known) as $name) {
            $queue = $target->openWithoutKeys($name);
            // It was forgotten, and its producer has yet to enter it again; or it was paused before its first push.
            if ($queue->count() > 0 || $queue->isPaused()) {
                continue;
            }
            $choose = $known !== [] && $target->isUsual() && $target->names() === [$name] ? ': --queue names one' : '';
            $instead = self::instead($known, Nearest::of($name, $known));
            throw new UsageException("there is no queue $name$instead$choose");
        }
    }

    /** @return list<string> of each pattern without a queue a sentence that says so */
    public static function patterns(Target $target, QueueChoice $choice): array
    {
        $known = $choice->patterns() === [] ? null : self::known($target);
        $why = [];
        foreach ($known === null ? [] : $choice->patterns() as $pattern) {
            if ((new QueueChoice([$pattern], 1))->among(static fn (): array => $known)[0] === []) {
                $why[] = "there is no queue like $pattern" . self::instead($known, []);
            }
        }

        return $why;
    }

    /** @return list<string>|null null: a user without the right to read the index of names */
    private static function known(Target $target): ?array
    {
        try {
            return $target->anywhere()->queues();
        } catch (ServerException) {
            return null;
        }
    }

    /**
     * @param list<string> $known
     * @param list<string> $near those of them that may be meant
     */
    private static function instead(array $known, array $near): string
    {
        $all = implode(', ', array_slice($known, 0, self::NAMED)) . (count($known) > self::NAMED ? ' …' : '');

        return match (true) {
            $known === [] => '; there are no queues',
            $near !== [] => '; did you mean ' . implode(' or ', $near) . '?',
            default => "; there are $all",
        };
    }
}
