<?php

/**
 * Checks what is due, then ends. A refund that is still pending fails its attempt and comes back after the next stage;
 * after the last one it is buried, for somebody to look at:
 *
 *     php -r 'foreach ((new DelayQueue("refunds"))->list(DelayQueue\State::Buried) as $job) echo "$job->id $job->lastError\n";'
 */

declare(strict_types=1);

/** Stands for the call to the payment provider: the refund is through once its file is there. */
function refundIsThrough(string $refund): bool
{
    return is_file(sys_get_temp_dir() . "/refund-$refund");
}

$queue = new DelayQueue('refunds');
while ($job = $queue->reserve()) {
    if (refundIsThrough($job->payload['refund'])) {
        $job->ack();
        echo "$job->id is through\n";
    } else {
        $job->fail("still pending at check $job->attempts");
        echo "$job->id is still pending\n";
    }
}
