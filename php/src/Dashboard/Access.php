<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard;

/** How far a visitor may go. */
enum Access
{
    case None;
    case Read;
    case Write;
}
