<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

use php_user_filter;

/** What a program writes to STDOUT goes through here. The parameter is the WholeLines. */
final class LineFilter extends php_user_filter
{
    /**
     * @param resource $in
     * @param resource $out
     * @param int $consumed
     */
    public function filter($in, $out, &$consumed, bool $closing): int
    {
        $status = PSFS_FEED_ME;
        while (($bucket = stream_bucket_make_writeable($in)) !== null) {
            $consumed += $bucket->datalen;
            $bucket->data = $this->params->take($bucket->data);
            if ($bucket->data !== '') {
                $status = PSFS_PASS_ON;
                stream_bucket_append($out, $bucket);
            }
        }

        return $status;
    }
}
