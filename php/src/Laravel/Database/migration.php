<?php

/** The tables of the outbox, and that of inbox and journal. */

declare(strict_types=1);

use DelayQueue\Database\Schema;
use DelayQueue\Laravel\Database\LaravelConnection;
use Illuminate\Database\Migrations\Migration;

return new class () extends Migration {
    /** The connection that the queue connection "delayqueue" names as its outbox, else the one that is migrated. */
    public function getConnection(): ?string
    {
        $outbox = config('queue.connections.delayqueue.outbox');

        return is_string($outbox) && $outbox !== '' ? $outbox : null;
    }

    public function up(): void
    {
        Schema::install(new LaravelConnection(app('db'), $this->getConnection()), jobs: true);
    }

    /** Jobs whose rows are still there are lost. */
    public function down(): void
    {
        $connection = new LaravelConnection(app('db'), $this->getConnection());
        foreach ([Schema::OUTBOX, Schema::SOURCE, Schema::JOBS] as $table) {
            $connection->execute("drop table if exists $table");
        }
    }
};
