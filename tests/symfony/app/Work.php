<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony\App;

/** A message that says what its handler is to do. */
final class Work
{
    /**
     * @param string $do 'nothing'; 'fail' always; 'fail 2'; 'limit 2' meets a limit twice, 'last' in its last retry, 'close' for an hour; 'wait' until told; 'sleep 6' seconds; 'block 6' without signals
     */
    public function __construct(public string $name, public string $do = 'nothing')
    {
    }
}
