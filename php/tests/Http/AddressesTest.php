<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Http;

use DelayQueue\Http\Addresses;
use InvalidArgumentException;
use PHPUnit\Framework\TestCase;

final class AddressesTest extends TestCase
{
    /** First, last and next address of what is not public. */
    private const NOT_PUBLIC = [
        '0.0.0.0', '0.255.255.255', '10.0.0.0', '10.255.255.255', '100.64.0.0', '100.127.255.255', '127.0.0.1', '127.255.255.255',
        '169.254.169.254', '172.16.0.0', '172.31.255.255', '192.0.0.8', '192.0.2.1', '192.88.99.1', '192.168.0.1', '192.168.255.255',
        '198.18.0.0', '198.19.255.255', '198.51.100.1', '203.0.113.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255',
        '::', '::1', '::127.0.0.1', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '64:ff9b::7f00:1', '64:ff9b:1::1', '100::1', '2001::1',
        '2001:1ff:ffff::', '2001:db8::1', '2002:7f00:1::', '3fff::1', '4000::1', '5f00::1', 'fc00::1', 'fdff::1', 'fe80::1',
        'febf::1', 'fec0::1', 'ff02::1',
        'localhost', '2130706433', '127.1', '0x7f.1', '8.8.8.8 ', '', '010.8.8.8',
    ];

    private const PUBLIC = [
        '1.0.0.0', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255', '128.0.0.0',
        '169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '192.0.1.0', '192.167.255.255', '192.169.0.0',
        '198.17.255.255', '198.20.0.0', '223.255.255.255', '2000::1', '2001:200::1', '2001:4860:4860::8888', '2001:db9::1',
        '2003::1', '2606:4700::1111', '3ffe::1', '2a00:1450::1',
    ];

    public function testOnlyPublicAddressesMayBeReached(): void
    {
        $addresses = new Addresses();

        $this->assertSame([], array_filter(self::NOT_PUBLIC, $addresses->mayReach(...)));
        $this->assertSame(self::PUBLIC, array_values(array_filter(self::PUBLIC, $addresses->mayReach(...))));
    }

    public function testNetworksThatAreAllowedMayBeReachedAsWell(): void
    {
        $addresses = new Addresses(['10.1.0.0/20', '127.0.0.1', 'fd00:1::/32', '192.168.4.0/25']);
        $inside = ['10.1.0.0', '10.1.15.255', '127.0.0.1', 'fd00:1::1', 'fd00:1:ffff::', '192.168.4.127', '8.8.8.8'];
        $outside = ['10.1.16.0', '10.0.255.255', '127.0.0.2', 'fd00:2::1', '192.168.4.128', '::ffff:127.0.0.1'];

        $this->assertSame($inside, array_values(array_filter($inside, $addresses->mayReach(...))));
        $this->assertSame([], array_filter($outside, $addresses->mayReach(...)));
        $this->assertTrue((new Addresses(['0.0.0.0/0']))->mayReach('127.0.0.1'));
        $this->assertTrue((new Addresses(['::/0']))->mayReach('::1'));
    }

    /** @return array<array{string}> */
    public static function noNetworks(): array
    {
        return [[''], ['localhost'], ['10.0.0.0/33'], ['10.0.0.0/-1'], ['10.0.0.0/'], ['10.0.0.0/8/8'], ['10.0/16'], ['fd00::/129']];
    }

    /** @dataProvider noNetworks */
    #[\PHPUnit\Framework\Attributes\DataProvider('noNetworks')]
    public function testWhatIsNoNetworkIsRefused(string $network): void
    {
        $this->expectException(InvalidArgumentException::class);
        $this->expectExceptionMessage("'$network' is no network");
        new Addresses([$network]);
    }
}
