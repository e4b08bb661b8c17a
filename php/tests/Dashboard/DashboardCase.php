<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Dashboard;

use DelayQueue\Dashboard\Access;
use DelayQueue\Dashboard\Handler;
use DelayQueue\Dashboard\Request;
use DelayQueue\Tests\OnAnyStore;
use PHPUnit\Framework\TestCase;

/** A test of pages without a browser. */
abstract class DashboardCase extends TestCase
{
    use OnAnyStore;

    protected const FROM_HERE = ['sec-fetch-site' => 'same-origin'];

    protected function handler(Access $access = Access::Write, ?callable $changed = null): Handler
    {
        return new Handler($this->delayQueue(), static fn (): Access => $access, changed: $changed);
    }

    /** @param array<string, string> $form */
    protected function change(string $path, array $form): Request
    {
        return new Request('POST', $path, [], $form, self::FROM_HERE, '/dq');
    }
}
