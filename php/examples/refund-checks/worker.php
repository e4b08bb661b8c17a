<?php

/**
 * Checks what is due, then ends. A refund that is still pending fails its attempt and comes back after the next stage;
 * after the last one it is buried, for somebody to look at:
 *
 *     php -r 'foreach ((new DelayQueue("refunds"))->list(DelayQueue\State::Buried) as $job) echo "$job->id $job->lastError\n";'
 */

declare(strict_types=1);

use DelayQueue\Job;

/** Stands for the call to the payment provider: the refund is through once its file is there. */
function refundIsThrough(string $refund): bool
{
    return is_file(sys_get_temp_dir() . "/refund-$refund");
}

(new DelayQueue('refunds'))->drain(static function (Job $job): void {
    if (!refundIsThrough($job->payload['refund'])) {
        echo "$job->id is still pending\n";
        throw new RuntimeException("still pending at check $job->attempts");
    }
    echo "$job->id is through\n";
});
