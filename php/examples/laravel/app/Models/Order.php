<?php

declare(strict_types=1);

namespace App\Models;

use Illuminate\Database\Eloquent\Model;

/**
 * @property int $id
 * @property string $product
 * @property string $state open, paid or closed
 */
final class Order extends Model
{
    public $timestamps = false;

    protected $fillable = ['product', 'state'];
}
