<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard;

use Psr\Http\Message\ResponseFactoryInterface;
use Psr\Http\Message\ResponseInterface;
use Psr\Http\Message\ServerRequestInterface;
use Psr\Http\Message\StreamFactoryInterface;
use Psr\Http\Server\RequestHandlerInterface;

/**
 * The dashboard as a PSR-15 request handler, for Slim, Mezzio and the like:
 *
 *     $app->any('/delayqueue[/{path:.*}]', new Psr15Handler($handler, $factory, $factory, '/delayqueue'));
 */
final class Psr15Handler implements RequestHandlerInterface
{
    /**
     * @param string $base where it is mounted, without a slash at the end
     * @param string|null $user the attribute of the request that names the user, for the log of changes
     */
    public function __construct(
        private readonly Handler $handler,
        private readonly ResponseFactoryInterface $responses,
        private readonly StreamFactoryInterface $streams,
        private readonly string $base = '',
        private readonly ?string $user = null,
    ) {
    }

    public function handle(ServerRequestInterface $request): ResponseInterface
    {
        $user = $this->user === null ? null : $request->getAttribute($this->user);
        $headers = array_map(static fn (array $values): string => implode(', ', $values), $request->getHeaders());
        $answer = $this->handler->handle(new Request(
            $request->getMethod(),
            Request::below($this->base, $request->getUri()->getPath()),
            $request->getQueryParams(),
            (array) ($request->getParsedBody() ?? []),
            array_change_key_case($headers),
            $this->base,
            is_scalar($user) ? (string) $user : null,
        ));
        $response = $this->responses->createResponse($answer->status)->withBody($this->streams->createStream($answer->body));
        foreach ($answer->headers as $name => $value) {
            $response = $response->withHeader($name, $value);
        }

        return $response;
    }
}
