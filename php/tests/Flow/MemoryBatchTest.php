<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Flow;

use DelayQueue\Testing\InteractsWithMemoryQueue;
use PHPUnit\Framework\TestCase;

final class MemoryBatchTest extends TestCase
{
    use BatchCrashRules;
    use BatchMemberRules;
    use BatchRules;
    use BatchStartRules;
    use InteractsWithMemoryQueue;
}
