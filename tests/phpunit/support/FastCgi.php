<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Support;

use RuntimeException;

/** A FastCGI client: one request over one connection, GET unless it is told otherwise. */
final class FastCgi
{
    private const BEGIN = 1;
    private const END = 3;
    private const PARAMS = 4;
    private const STDIN = 5;
    private const STDOUT = 6;
    private const STDERR = 7;

    /** @var resource */
    private $stream;

    /**
     * @param array<string, scalar> $query
     * @param array<string, string> $others variables that differ from the usual ones, or come to them
     * @param array<string, string>|null $form is posted
     */
    public function __construct(string $socket, string $script, array $query, array $others = [], ?array $form = null)
    {
        $stream = @stream_socket_client("unix://$socket", $code, $message, 5.0);
        if ($stream === false) {
            throw new RuntimeException("php-fpm does not listen: $message");
        }
        $this->stream = $stream;
        $query = http_build_query($query);
        $params = '';
        $body = http_build_query($form ?? []);
        if ($form !== null) {
            $others += ['REQUEST_METHOD' => 'POST', 'CONTENT_TYPE' => 'application/x-www-form-urlencoded', 'CONTENT_LENGTH' => (string) strlen($body)];
        }
        $variables = $others + [
            'SCRIPT_FILENAME' => $script,
            'SCRIPT_NAME' => '/' . basename($script),
            'REQUEST_URI' => '/' . basename($script) . "?$query",
            'REQUEST_METHOD' => 'GET',
            'QUERY_STRING' => $query,
            'SERVER_PROTOCOL' => 'HTTP/1.1',
            'GATEWAY_INTERFACE' => 'CGI/1.1',
        ];
        foreach ($variables as $name => $value) {
            $params .= self::length($name) . self::length($value) . $name . $value;
        }
        fwrite($stream, self::record(self::BEGIN, pack('nCx5', 1, 0)) . self::record(self::PARAMS, $params)
            . self::record(self::PARAMS, '') . ($body === '' ? '' : self::record(self::STDIN, $body)) . self::record(self::STDIN, ''));
    }

    /** Waits for the end of the request. */
    public function response(float $seconds = 20.0): Response
    {
        $said = [self::STDOUT => '', self::STDERR => ''];
        $finished = false;
        $deadline = microtime(true) + $seconds;
        while (!$finished) {
            stream_set_timeout($this->stream, max(1, (int) ceil($deadline - microtime(true))));
            $head = $this->read(8);
            if ($head === null) {
                break; // the worker was killed
            }
            ['type' => $type, 'length' => $length, 'padding' => $padding] = unpack('x/Ctype/nid/nlength/Cpadding', $head);
            $content = (string) $this->read($length + $padding);
            if (isset($said[$type])) {
                $said[$type] .= substr($content, 0, $length);
            }
            $finished = $type === self::END;
        }
        fclose($this->stream);
        [$headers, $body] = explode("\r\n\r\n", $said[self::STDOUT] . "\r\n\r\n", 3);

        return new Response($finished, $headers, $body, $said[self::STDERR]);
    }

    private function read(int $length): ?string
    {
        $bytes = '';
        while (strlen($bytes) < $length) {
            $chunk = fread($this->stream, $length - strlen($bytes));
            if ($chunk === false || $chunk === '') {
                return null;
            }
            $bytes .= $chunk;
        }

        return $bytes;
    }

    private static function record(int $type, string $content): string
    {
        return pack('CCnnCx', 1, $type, 1, strlen($content), 0) . $content;
    }

    private static function length(string $text): string
    {
        return strlen($text) < 128 ? chr(strlen($text)) : pack('N', strlen($text) | 0x80000000);
    }
}
