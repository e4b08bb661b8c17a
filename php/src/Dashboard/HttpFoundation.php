<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard;

use Symfony\Component\HttpFoundation\Request as FoundationRequest;
use Symfony\Component\HttpFoundation\Response as FoundationResponse;

/**
 * Requests and answers of Symfony and Laravel:
 *
 *     return HttpFoundation::response($handler->handle(HttpFoundation::request($request, $path, $user)));
 */
final class HttpFoundation
{
    /** @param string $path the end of the address, below the place of the dashboard: 'queue' or '/queue' */
    public static function request(FoundationRequest $request, string $path, ?string $user = null): Request
    {
        $path = ltrim($path, '/');
        $place = $path !== '' && str_ends_with($request->getPathInfo(), "/$path") ? substr($request->getPathInfo(), 0, -strlen($path)) : $request->getPathInfo();
        $headers = array_map(static fn (array $values): string => implode(', ', $values), $request->headers->all());

        return new Request(
            $request->getMethod(),
            "/$path",
            self::fields((string) $request->server->get('QUERY_STRING'), $request->query->all()),
            self::fields($request->getContent(), $request->request->all()),
            // Behind a trusted proxy, the host is that of the browser's address.
            ['host' => $request->getHttpHost()] + $headers,
            rtrim($request->getBaseUrl() . $place, '/'),
            $user,
        );
    }

    public static function response(Response $answer): FoundationResponse
    {
        return new FoundationResponse($answer->body, $answer->status, $answer->headers);
    }

    /**
     * As they were sent: middleware trims what the framework has read, and then an id with a blank at its end would be the id of another job.
     *
     * @param array<array-key, mixed> $read
     *
     * @return array<array-key, mixed>
     */
    private static function fields(string $sent, array $read): array
    {
        parse_str($sent, $exact);

        return array_intersect_key($exact, $read) + $read;
    }
}
