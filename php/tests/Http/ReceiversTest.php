<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Http;

use DelayQueue\Bury;
use DelayQueue\Http\Receivers;
use InvalidArgumentException;
use PHPUnit\Framework\TestCase;

final class ReceiversTest extends TestCase
{
    private const HOSTS = ['shop.example', '*.partner.example', 'API.example:8443', '*.test:8080', '[::1]:9000', '192.0.2.7'];

    /** @return array<array{string, 1?: string}> */
    public static function allowed(): array
    {
        return [
            ['https://shop.example'],
            ['https://shop.example:443/'],
            ['http://shop.example/'],
            ['HTTPS://SHOP.example/Path?q=1'],
            ['https://a.partner.example/'],
            ['https://b.a.partner.example/'],
            ['https://api.example:8443/x'],
            ['http://a.test:8080/'],
            ['http://[0:0::1]:9000/'],
            ['https://192.0.2.7/'],
        ];
    }

    /** @dataProvider allowed */
    #[\PHPUnit\Framework\Attributes\DataProvider('allowed')]
    public function testItIsAllowed(string $url): void
    {
        $endpoint = (new Receivers(self::HOSTS, allowHttp: true))->endpoint($url);

        $this->assertSame(strtolower((string) parse_url($url, PHP_URL_SCHEME)), $endpoint->scheme);
        $this->assertStringStartsWith($endpoint->origin() . '/', $endpoint->url());
    }

    /** @return array<array{string, string}> */
    public static function refused(): array
    {
        $unknown = 'is not among the allowed hosts';
        $malformed = 'the URL is not accepted: ';

        return [
            ['https://evil.example/', "https://evil.example $unknown"],
            ['https://shop.example.evil.example/', $unknown],
            ['https://evilshop.example/', $unknown],
            ['https://partner.example/', $unknown],
            ['https://evilpartner.example/', $unknown],
            ['https://shop.example:8443/', "https://shop.example:8443 $unknown"],
            ['http://shop.example:443/', $unknown],
            ['https://api.example/', $unknown],
            ['https://test:8080/', $unknown],
            ['https://[::2]:9000/', $unknown],
            ['https://shop.example@evil.example/', 'there is a user name in it'],
            ['https://user:s3cret@shop.example/', 'there is a user name in it'],
            ['https://evil.example\\@shop.example/', 'percent-encoded'],
            ['https://evil.example#@shop.example/', "https://evil.example $unknown"],
            ['https://evil.example?@shop.example/', "https://evil.example $unknown"],
            ["https://shop.example/\r\nX-Evil: 1", 'percent-encoded'],
            ['https://shop.example/ö', 'percent-encoded'],
            ['https://shöp.example/', 'percent-encoded'],
            ['ftp://shop.example/', $malformed],
            ['//shop.example/', $malformed],
            ['shop.example', $malformed],
            ['', $malformed],
            ['https:///path', $malformed],
            ['https://shop.example:/', 'no valid host and port'],
            ['https://shop.example:0/', 'no valid port'],
            ['https://shop.example:65536/', 'no valid port'],
            ['https://shop.example:99999999/', 'no valid host and port'],
            ['https://shop..example/', 'no valid host'],
            ['https://shop.example./', 'no valid host'],
            ['https://-shop.example/', 'no valid host'],
            ['https://%73hop.example/', 'no valid host'],
            ['https://[::1/', 'no valid host'],
            ['https://[fe80::1%25eth0]/', 'IPv6'],
            ['https://[127.0.0.1]/', 'IPv6'],
            ['https://192.0.2.07/', 'its host is a number'],
            ['https://3221225991/', 'its host is a number'],
        ];
    }

    /** @dataProvider refused */
    #[\PHPUnit\Framework\Attributes\DataProvider('refused')]
    public function testItIsRefusedForThisReason(string $url, string $reason): void
    {
        try {
            (new Receivers(self::HOSTS, allowHttp: true))->endpoint($url);
            $this->fail('accepted');
        } catch (Bury $error) {
            $this->assertStringContainsString($reason, $error->getMessage());
            $this->assertStringNotContainsString('s3cret', $error->getMessage());
        }
    }

    public function testHttpIsRefusedUnlessItIsAllowed(): void
    {
        $this->expectException(Bury::class);
        $this->expectExceptionMessage('http://shop.example is not https');
        (new Receivers(self::HOSTS, allowHttp: false))->endpoint('http://shop.example/?token=s3cret');
    }

    public function testAStarIsEveryHostOnTheSchemesOwnPort(): void
    {
        $receivers = new Receivers(['*'], allowHttp: false);
        $this->assertSame('https://any.example/', $receivers->endpoint('https://any.example')->url());

        $this->expectException(Bury::class);
        $receivers->endpoint('https://any.example:22/');
    }

    public function testAFragmentIsNotSent(): void
    {
        $receivers = new Receivers(['shop.example'], allowHttp: false);

        $this->assertSame('https://shop.example/?a=1', $receivers->endpoint('https://shop.example?a=1#part')->url());
    }

    /** @return array<array{list<string>, string}> */
    public static function wrongLists(): array
    {
        return [
            [[], 'no host is allowed'],
            [[''], "'' is no allowed host"],
            [['https://shop.example'], "'https://shop.example' is no allowed host"],
            [['shop.example/'], 'is no allowed host'],
            [['*shop.example'], 'is no allowed host'],
            [['*.'], 'is no allowed host'],
            [['shop.*.example'], 'is no allowed host'],
            [['shop.example:https'], 'is no allowed host'],
            [['127.1'], 'is no allowed host'],
        ];
    }

    /**
     * @dataProvider wrongLists
     *
     * @param list<string> $hosts
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('wrongLists')]
    public function testAListThatCannotBeMeantIsRefusedAtOnce(array $hosts, string $message): void
    {
        $this->expectException(InvalidArgumentException::class);
        $this->expectExceptionMessage($message);
        new Receivers($hosts, allowHttp: false);
    }
}
