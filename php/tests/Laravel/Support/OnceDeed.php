<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel\Support;

use Closure;
use DelayQueue\Laravel\Middleware\Once;
use Illuminate\Support\Facades\DB;

/** A deed that writes its name to the shop's orders, once. */
final class OnceDeed extends Deed
{
    public static ?Closure $inside = null;

    /** @return list<object> */
    public function middleware(): array
    {
        return [new Once('shop')];
    }

    public function handle(): void
    {
        DB::connection('shop')->insert('insert into orders (name) values (?)', [$this->name]);
        parent::handle();
        (self::$inside ?? static fn () => null)();
    }
}
