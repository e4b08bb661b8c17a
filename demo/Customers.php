<?php

declare(strict_types=1);

/** They order over HTTP at a steady pace; every third one pays in time. */
final class Customers
{
    private float $nextOrderAt;
    private int $ordered = 0;

    /** @var array<string, float> order id => when its customer pays (Unix seconds) */
    private array $intentions = [];

    public function __construct(private readonly string $page, private readonly int $orders, private readonly float $pause)
    {
        $this->nextOrderAt = microtime(true);
    }

    public function isDone(): bool
    {
        return $this->ordered === $this->orders && $this->intentions === [];
    }

    /** Does what is to be done by now. */
    public function act(): void
    {
        if ($this->ordered < $this->orders && microtime(true) >= $this->nextOrderAt) {
            $this->order();
        }
        foreach ($this->intentions as $id => $moment) {
            if (microtime(true) >= $moment) {
                $this->post("/orders/$id/payment");
                unset($this->intentions[$id]);
            }
        }
    }

    private function order(): void
    {
        ['id' => $id, 'pay_within' => $payWithin] = $this->post('/orders?item=teapot');
        $this->nextOrderAt += $this->pause;
        if (++$this->ordered % 3 === 0) {
            $this->intentions[$id] = microtime(true) + $payWithin * random_int(20, 70) / 100;
        }
    }

    /** @return array<string, mixed> */
    private function post(string $path): array
    {
        $context = stream_context_create(['http' => ['method' => 'POST', 'timeout' => 10, 'ignore_errors' => true]]);
        $body = file_get_contents($this->page . $path, false, $context);
        $answer = json_decode((string) $body, true);
        if (!is_array($answer)) {
            throw new RuntimeException("the page answered POST $path with: $body");
        }

        return $answer;
    }
}
