<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel;

use DelayQueue\Tests\Laravel\Support\Deed;
use DelayQueue\Tests\Laravel\Support\OutboxTestCase;
use Illuminate\Database\Schema\Blueprint;
use PHPUnit\Framework\Attributes\DataProvider;

/** Failed jobs with bytes that are no text, on each database. */
final class FailuresDatabasesTest extends OutboxTestCase
{
    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testAFailedJobIsRecordedWhateverBytesItHas(string $database): void
    {
        $this->bootOutbox($database);
        $this->app['config']->set('queue.failed.database', 'shop');
        $this->shop()->getSchemaBuilder()->create('failed_jobs', static function (Blueprint $table): void {
            $table->id();
            $table->string('uuid')->unique();
            foreach (['connection', 'queue', 'payload', 'exception'] as $column) {
                $table->longText($column);
            }
            $table->timestamp('failed_at')->useCurrent();
        });
        $bytes = "\xff\x00";
        $this->queue()->native()->push($bytes, id: 'bytes');
        $this->queue()->native()->push('"x"', id: 'x');
        $job = new Deed("na\0me", 0, 'throw');
        $job->tries = 1;
        $id = $this->queue()->push($job);
        $this->artisan('queue:work', ['--stop-when-empty' => true, '--sleep' => 0, '--tries' => 1]);
        $rows = $this->shop()->table('failed_jobs')->pluck('payload', 'uuid')->all();
        $this->assertEqualsCanonicalizing(['bytes', 'x', $id], array_keys($rows));
        $this->assertSame('"x"', $rows['x']);
        $wrapped = json_encode(['uuid' => 'bytes', 'base64' => base64_encode($bytes)]);
        $this->assertContains($rows['bytes'], [$bytes, $wrapped]);
        $this->assertSame(0, $this->queue()->size());
    }
}
