<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Middleware;

use ArrayObject;
use Closure;
use DelayQueue\Middleware\CircuitBreaker;
use DelayQueue\Middleware\Deadline;
use DelayQueue\Middleware\DontRetry;
use DelayQueue\Middleware\Pipeline;
use DelayQueue\Middleware\RetryOnly;
use InvalidArgumentException;
use PHPUnit\Framework\TestCase;
use RuntimeException;
use ValueError;

/** A mistake is said where it is made, not when a job comes. */
final class ArgumentsTest extends TestCase
{
    /**
     * @dataProvider mistakes
     *
     * @param Closure(): object $make
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('mistakes')]
    public function testAMistakeIsSaidInPhpsWords(Closure $make, string $class, string $message): void
    {
        $this->expectException(ValueError::class);
        $this->expectExceptionMessage("DelayQueue\\Middleware\\$class::__construct(): Argument $message");
        $make();
    }

    /** @return array<string, array{Closure(): object, string, string}> */
    public static function mistakes(): array
    {
        return [
            'no failures' => [static fn () => new CircuitBreaker(0, '1m', '1m'), 'CircuitBreaker', '#1 ($failures) must be between 1 and 1000'],
            'too many failures' => [static fn () => new CircuitBreaker(1001, '1m', '1m'), 'CircuitBreaker', '#1 ($failures) must be between 1 and 1000'],
            'no time' => [static fn () => new CircuitBreaker(1, 0, '1m'), 'CircuitBreaker', '#2 ($within) must be greater than 0'],
            'no duration' => [
                static fn () => new CircuitBreaker(1, '1m', 'soon'),
                'CircuitBreaker',
                '#3 ($pause) must be a number of seconds or a duration such as',
            ],
            'negative' => [static fn () => new CircuitBreaker(1, '1m', -1), 'CircuitBreaker', '#3 ($pause) must be greater than or equal to 0'],
            'no class' => [
                static fn () => new CircuitBreaker(1, '1m', '1m', [RuntimeException::class, 'No\Such']),
                'CircuitBreaker',
                '#4 ($of) must be a list of exception classes and interfaces, "No\Such" given',
            ],
            'no class to retry' => [
                static fn () => new RetryOnly(RuntimeException::class, 'No\Such'),
                'RetryOnly',
                '#2 must be an exception class or an interface, "No\Such" given',
            ],
            'no exception' => [
                static fn () => new DontRetry(ArrayObject::class),
                'DontRetry',
                '#1 must be an exception class or an interface, "ArrayObject" given',
            ],
            'no deadline' => [static fn () => new Deadline(0.0), 'Deadline', '#1 ($time) must be greater than 0'],
        ];
    }

    public function testAnObjectThatCannotHandleIsRefused(): void
    {
        $this->expectException(InvalidArgumentException::class);
        $this->expectExceptionMessage('the handler is neither callable nor an object with handle(): ArrayObject');
        new Pipeline(new ArrayObject());
    }
}
