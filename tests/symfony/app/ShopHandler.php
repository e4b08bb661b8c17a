<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony\App;

use DelayQueue\Tests\Symfony\App\Entity\Effect;
use Doctrine\Persistence\ManagerRegistry;
use RuntimeException;
use Symfony\Component\Messenger\MessageBusInterface;

/** Writes into the database, and into the journal of the test. */
final class ShopHandler
{
    public function __construct(private readonly ManagerRegistry $doctrine, private readonly Journal $journal, private readonly MessageBusInterface $bus)
    {
    }

    public function __invoke(ShopWork $work): void
    {
        $this->journal->write('begin', $work->name);
        [$how, $then] = explode(' ', $work->do, 2) + [1 => ''];
        match ($how) {
            'row' => $this->doctrine->getConnection()->insert('effects', ['name' => $work->name]),
            'entity' => $this->doctrine->getManager()->persist(new Effect($work->name)),
        };
        match ($then) {
            '' => null,
            'dispatch' => $this->bus->dispatch(new ShopWork("$work->name-next")),
            'begin' => $this->doctrine->getConnection()->beginTransaction(),
            'fail' => throw new RuntimeException("$work->name failed"),
        };
        $this->journal->write('end', $work->name);
    }
}
