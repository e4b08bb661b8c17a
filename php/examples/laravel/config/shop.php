<?php

return [
    // Seconds from placing an order to closing it.
    'pay_within' => (float) env('SHOP_PAY_WITHIN', 900),
    'provider_takes' => (float) env('SHOP_PROVIDER_TAKES', 0),
];
