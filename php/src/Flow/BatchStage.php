<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

/**
 * How far a batch is.
 *
 * @internal
 */
enum BatchStage: string
{
    /** start() pushes the markers; there is no member yet. */
    case Markers = 'markers';

    /** All markers are there, and start() pushes the members. */
    case Members = 'members';

    case Open = 'open';

    /** Every member was done: it takes no more, and `then` is pushed. */
    case Closed = 'closed';

    case Cancelled = 'cancelled';
}
