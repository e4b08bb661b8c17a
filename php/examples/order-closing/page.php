<?php

/**
 * The producer: a page that takes orders and payments.
 *
 *     php -S 127.0.0.1:8080 page.php
 *
 *     POST /orders?item=teapot             an order; it has to be paid within PAY_WITHIN seconds (without it: 900)
 *     POST /orders/order-1/payment         its payment
 */

declare(strict_types=1);

require __DIR__ . '/Shop.php';

$shop = new Shop();
$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);

header('Content-Type: application/json');

if ($_SERVER['REQUEST_METHOD'] === 'POST' && $path === '/orders') {
    $payWithin = (float) (getenv('PAY_WITHIN') ?: 900);
    $id = $shop->place($_GET['item'] ?? 'teapot', $payWithin);
    http_response_code(201);
    echo json_encode(['id' => $id, 'pay_within' => $payWithin]);
} elseif ($_SERVER['REQUEST_METHOD'] === 'POST' && preg_match('~^/orders/(order-\d+)/payment$~D', (string) $path, $match)) {
    $paid = $shop->pay($match[1]);
    http_response_code($paid ? 200 : 409);
    echo json_encode(['paid' => $paid]);
} else {
    http_response_code(404);
    echo json_encode(['error' => 'POST /orders or /orders/ID/payment']);
}
