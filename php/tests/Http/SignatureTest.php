<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Http;

use DelayQueue\Http\Signature;
use InvalidArgumentException;
use PHPUnit\Framework\TestCase;

final class SignatureTest extends TestCase
{
    private const NOW = 1_700_000_000;

    public function testItIsWhatItsDescriptionSays(): void
    {
        $hash = trim((string) shell_exec("printf '1700000000\\norder-1\\n{}' | openssl dgst -sha256 -hmac secret -r | cut -d' ' -f1"));

        $this->assertMatchesRegularExpression('/^[0-9a-f]{64}$/D', $hash);
        $this->assertSame("t=1700000000,v1=$hash", (new Signature('secret'))->sign('order-1', '{}', self::NOW));
    }

    /** @return array<string, array{bool, 1?: array<string, mixed>}> */
    public static function deliveries(): array
    {
        $header = (new Signature('secret'))->sign('order-1', '{"a":1}', self::NOW);

        return [
            'as it was sent' => [true],
            'at the end of its time' => [true, ['now' => self::NOW + 300]],
            'too late' => [false, ['now' => self::NOW + 301]],
            'by a clock that is ahead' => [true, ['now' => self::NOW - 300]],
            'from the future' => [false, ['now' => self::NOW - 301]],
            'for longer' => [true, ['now' => self::NOW + 900, 'tolerance' => 900]],
            'another body' => [false, ['body' => '{"a":2}']],
            'another id' => [false, ['id' => 'order-2']],
            'a part of the body as id' => [false, ['id' => "order-1\n{", 'body' => '"a":1}']],
            'another secret' => [false, ['secrets' => 'other']],
            'one of two secrets' => [true, ['secrets' => ['new', 'secret']]],
            'another time' => [false, ['header' => str_replace('t=1700000000', 't=1700000001', $header)]],
            'one of two signatures' => [true, ['header' => "$header,v1=" . str_repeat('0', 64)]],
            'unsigned' => [false, ['header' => '']],
            'a time and no signature' => [false, ['header' => 't=1700000000']],
            'more after it' => [false, ['header' => "$header\n"]],
            'no hash' => [false, ['header' => 't=1700000000,v1=0']],
            'one hash too many to try' => [false, ['header' => $header . str_repeat(',v1=' . str_repeat('0', 64), 10)]],
        ];
    }

    /**
     * @dataProvider deliveries
     *
     * @param array<string, mixed> $changed
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('deliveries')]
    public function testAReceiverKnowsWhatIsGenuineAndRecent(bool $expected, array $changed = []): void
    {
        $this->assertSame($expected, Signature::verify(...$changed + [
            'header' => (new Signature('secret'))->sign('order-1', '{"a":1}', self::NOW),
            'id' => 'order-1',
            'body' => '{"a":1}',
            'secrets' => 'secret',
            'now' => self::NOW,
        ]));
    }

    public function testASecretIsChangedWithoutAMomentThatNobodyAccepts(): void
    {
        $both = (new Signature(['new', 'old']))->sign('a', 'b', self::NOW);
        foreach (['old', 'new', ['new', 'old']] as $secrets) {
            $this->assertTrue(Signature::verify($both, 'a', 'b', $secrets, now: self::NOW));
        }
    }

    /** @return array<string, array{string|list<string>}> */
    public static function noSecrets(): array
    {
        return ['an empty one' => [''], 'none' => [[]], 'an empty one among others' => [['secret', '']]];
    }

    /**
     * @dataProvider noSecrets
     *
     * @param string|list<string> $secrets
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('noSecrets')]
    public function testNothingIsSignedOrVerifiedWithoutASecret(string|array $secrets): void
    {
        $attempts = [
            static fn () => new Signature($secrets),
            static fn () => Signature::verify('t=1,v1=' . str_repeat('0', 64), 'a', 'b', $secrets),
        ];
        foreach ($attempts as $attempt) {
            try {
                $attempt();
                $this->fail('accepted');
            } catch (InvalidArgumentException $error) {
                $this->assertSame('a signature needs a secret that is not empty', $error->getMessage());
            }
        }
    }
}
