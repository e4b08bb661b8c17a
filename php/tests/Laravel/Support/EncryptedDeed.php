<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel\Support;

use Illuminate\Contracts\Queue\ShouldBeEncrypted;

final class EncryptedDeed extends Deed implements ShouldBeEncrypted
{
}
