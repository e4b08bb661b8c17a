<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony\App;

/** A message whose handler writes into the database. */
final class ShopWork
{
    /**
     * @param string $do 'row' of SQL; 'entity' without a flush; 'row fail' and 'entity fail' throw after it; 'row dispatch' dispatches another message; 'row begin'
     *     leaves a transaction open
     */
    public function __construct(public string $name, public string $do = 'row')
    {
    }
}
