<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Console;

use DateTimeInterface;
use Illuminate\Console\Command;
use Illuminate\Support\Carbon;
use Throwable;
use ValueError;

final class RescheduleCommand extends Command
{
    use FindsConnection;

    protected $signature = 'delayqueue:reschedule
                            {id : The id of the job}
                            {when : From now (90, 15m, 1h30m, PT15M), or a time (2030-01-31 12:00, "tomorrow 9:00")}
                            {--queue= : The queue it is in; else all are looked at}
                            {--connection= : The queue connection}';

    protected $description = 'Move a waiting job to another time';

    public function handle(): int
    {
        $id = (string) $this->argument('id');
        try {
            $isMoved = $this->move($id, (string) $this->argument('when'));
        } catch (ValueError $error) {
            $this->error("\"{$this->argument('when')}\" is neither a duration nor a time");

            return self::INVALID;
        }
        $this->line($isMoved ? "<info>rescheduled</info> $id" : "<error>not there, or running</error> $id");

        return $isMoved ? self::SUCCESS : self::FAILURE;
    }

    private function move(string $id, string $when): bool
    {
        try {
            return $this->connection()->reschedule($id, $when, $this->queueOption());
        } catch (ValueError $error) {
            return $this->connection()->reschedule($id, self::moment($when) ?? throw $error, $this->queueOption());
        }
    }

    private static function moment(string $when): ?DateTimeInterface
    {
        try {
            return Carbon::parse($when);
        } catch (Throwable) {
            return null;
        }
    }
}
