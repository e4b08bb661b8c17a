<?php

declare(strict_types=1);

namespace DelayQueue\Psr;

use DateTimeImmutable;
use DelayQueue\Testing;
use Psr\Clock\ClockInterface;

/** The system's clock (PSR-20) that travels along with {@see Testing}: handlers see the time at which the queue runs their jobs. */
final class Clock implements ClockInterface
{
    public function now(): DateTimeImmutable
    {
        $now = new DateTimeImmutable();
        $offset = Testing::offset();
        if ($offset === 0.0) {
            return $now;
        }
        $travelled = DateTimeImmutable::createFromFormat('U.u', sprintf('%.6F', (float) $now->format('U.u') + $offset));

        return $travelled->setTimezone($now->getTimezone());
    }
}
