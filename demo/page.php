<?php

/** The shop's page, with 5 to 15 seconds to pay. */

declare(strict_types=1);

putenv('PAY_WITHIN=' . random_int(5_000, 15_000) / 1000);

require __DIR__ . '/../php/examples/order-closing/page.php';
