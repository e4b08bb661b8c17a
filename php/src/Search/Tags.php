<?php

declare(strict_types=1);

namespace DelayQueue\Search;

use DelayQueue\Internal\Invalid;
use DelayQueue\JobInfo;
use DelayQueue\JobInterface;
use ValueError;

/**
 * Words by which jobs are found again. They are a header of the job, `tags`, separated by commas:
 *
 *     $queue->tryPush(new NewJob($payload, headers: Tags::of('tenant:42', 'import') + ['trace' => $trace]));
 */
final class Tags
{
    public const HEADER = 'tags';

    /**
     * @return array{tags?: non-empty-string} for `headers`; empty without a tag
     *
     * @throws ValueError if one is empty, begins or ends with a blank, is not UTF-8, or has a comma or a control character
     */
    public static function of(string ...$tags): array
    {
        self::check(array_values($tags), self::class . '::of()');

        return $tags === [] ? [] : [self::HEADER => implode(',', array_unique($tags))];
    }

    /**
     * @internal
     *
     * @param list<string> $tags
     *
     * @throws ValueError as of()
     */
    public static function check(array $tags, string $method): void
    {
        foreach ($tags as $index => $tag) {
            $fault = self::fault($tag);
            $fault === null || throw Invalid::argument("$method: Argument #" . $index + 1, "must $fault");
        }
    }

    /** @return list<non-empty-string> of a job, also of one whose header another program has written */
    public static function in(JobInfo|JobInterface $job): array
    {
        $tags = array_map(trim(...), explode(',', $job->headers[self::HEADER] ?? ''));

        return array_values(array_unique(array_filter($tags, static fn (string $tag): bool => $tag !== '')));
    }

    private static function fault(string $tag): ?string
    {
        return match (true) {
            $tag === '' => 'not be empty',
            preg_match('//u', $tag) !== 1 => 'be valid UTF-8',
            str_contains($tag, ',') => 'not contain a comma',
            preg_match('/\p{Cc}/u', $tag) === 1 => 'not contain control characters',
            trim($tag) !== $tag => 'not begin or end with a blank',
            default => null,
        };
    }
}
