<?php

/** A receiver that answers 200 and ends the loop by SIGTERM; and names that are always known. Nothing leaves this machine. */

declare(strict_types=1);

namespace DelayQueue\Http {
    function function_exists(string $name): bool
    {
        return $name !== 'socket_addrinfo_lookup' && \function_exists($name);
    }

    function gethostbynamel(string $name): array
    {
        return ['192.0.43.8'];
    }
}

namespace Symfony\Component\HttpClient {
    use Symfony\Component\HttpClient\Response\MockResponse;
    use Symfony\Contracts\HttpClient\HttpClientInterface;

    final class HttpClient
    {
        /** @var list<array{string, string}> method and address */
        public static array $posted = [];

        public static function create(): HttpClientInterface
        {
            return new MockHttpClient(static function (string $method, string $url): MockResponse {
                self::$posted[] = [$method, $url];
                posix_kill(getmypid(), SIGTERM);

                return new MockResponse('', ['http_code' => 200]);
            });
        }
    }
}

namespace {
    putenv('NOTIFY_SECRET=only for this test');

    require 'vendor/autoload.php';
}
