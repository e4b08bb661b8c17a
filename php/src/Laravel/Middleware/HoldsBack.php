<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Middleware;

/** A middleware whose releases mean "not now": they use up no try of the job, as those of Laravel's own RateLimited. */
interface HoldsBack
{
}
