<?php

declare(strict_types=1);

namespace DelayQueue\Tracing;

/** How the run of a job stands to the trace of its push. */
enum Relation
{
    /** A trace of its own, with a link to the span of the push: a job may run days later, or often. */
    case Link;

    /** In the same trace, below the span of the push. */
    case Parent;

    /** A trace of its own. */
    case None;
}
