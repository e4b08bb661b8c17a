<?php

declare(strict_types=1);

namespace DelayQueue\Schedule;

/** The fate of an occurrence while the former one of its schedule waits or runs. A former one that is buried is over. */
enum Overlap: string
{
    /** It is pushed all the same. */
    case Allow = 'allow';
    /** It is left out. */
    case Skip = 'skip';
    /** It is pushed, and the former one is cancelled. */
    case Replace = 'replace';
}
