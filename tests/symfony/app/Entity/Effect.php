<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony\App\Entity;

use Doctrine\ORM\Mapping as ORM;

/** The work of a handler, as a row. */
#[ORM\Entity]
#[ORM\Table(name: 'effects')]
class Effect
{
    #[ORM\Id]
    #[ORM\GeneratedValue]
    #[ORM\Column(type: 'integer')]
    private ?int $id = null;

    public function __construct(
        #[ORM\Column(type: 'string')]
        private string $name,
    ) {
    }
}
