<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

use InvalidArgumentException;

/** The peers by name, in the order of the tables. */
final class Peers
{
    public const OURS = 'delayqueue';

    /** @var array<string, class-string<Peer>> */
    private const ALL = [
        self::OURS => Peers\DelayQueuePeer::class,
        'two-key' => Peers\TwoKeyPeer::class,
        'beanstalkd' => Peers\BeanstalkdPeer::class,
        'floor' => Peers\FloorPeer::class,
    ];

    /** @return list<string> */
    public static function names(): array
    {
        return array_keys(self::ALL);
    }

    public static function traits(string $name): Traits
    {
        return self::class($name)::traits();
    }

    public static function connect(string $name, Endpoint $endpoint): Peer
    {
        return new (self::class($name))($endpoint);
    }

    /** @return class-string<Peer> */
    private static function class(string $name): string
    {
        return self::ALL[$name] ?? throw new InvalidArgumentException("no peer '$name'; there are: " . implode(', ', self::names()));
    }
}
