<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel\Support;

enum Tenant: string
{
    case Acme = 'acme';
}
