<?php

declare(strict_types=1);

namespace DelayQueue\Schedule;

/** The moments that nobody ran, because no runner was there. A duration runs the latest one, if it is no older than that; 0 runs none. */
enum CatchUp: string
{
    /** Each of them, at most 1,000, the oldest first. */
    case All = 'all';
}
