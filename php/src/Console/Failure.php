<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue\ConnectionException;
use DelayQueue\Database\SchemaException;
use DelayQueue\InvalidArgument;
use DelayQueue\ServerException;
use PDOException;
use Symfony\Component\Console\Exception\ExceptionInterface;
use Throwable;
use ValueError;

/** An error as the caller of the command line gets it: one line, and an exit code. */
final class Failure
{
    public static function exitCode(Throwable $error): int
    {
        return match (true) {
            $error instanceof ConnectionException => ExitCode::UNREACHABLE,
            $error instanceof ServerException => ExitCode::REFUSED,
            $error instanceof PDOException, $error instanceof SchemaException => ExitCode::DATABASE,
            $error instanceof UsageException, $error instanceof ValueError, $error instanceof ExceptionInterface => ExitCode::USAGE,
            default => ExitCode::FAILED,
        };
    }

    /** Without a password and without control characters, whoever wrote the message. */
    public static function line(Throwable $error): string
    {
        $message = $error->getMessage();
        if ($error instanceof InvalidArgument && $error->reason !== '') {
            // $maxAttempts is max-attempts here.
            $name = $error->key ?? $error->parameter;
            $message = trim(strtolower((string) preg_replace('/[A-Z]/', '-$0', $name)) . " $error->reason");
        }
        $message = (string) preg_replace('/\s*\R\s*/', ' ', trim($message));

        return Text::printable(self::withoutPasswords($message === '' ? $error::class : $message));
    }

    /** @return list<string> where it came from, without the arguments, for those who asked with -v */
    public static function trace(Throwable $error): array
    {
        $lines = [];
        for ($cause = $error; $cause !== null; $cause = $cause->getPrevious()) {
            $what = $cause === $error ? $cause::class : 'because of ' . $cause::class . ': ' . self::line($cause);
            $lines[] = "$what in {$cause->getFile()}:{$cause->getLine()}";
            foreach ($cause->getTrace() as $frame) {
                $called = ($frame['class'] ?? '') . ($frame['type'] ?? '') . $frame['function'];
                $lines[] = '    ' . ($frame['file'] ?? 'PHP') . ':' . ($frame['line'] ?? '') . " $called()";
            }
        }

        return $lines;
    }

    /**
     * A URL with a login keeps its user. Not everybody encodes an @ or a space in a password; a port with words behind it is no password. The core's
     * advice how to write a login, redis://USER:PASSWORD@…, stays as it is. A password in a PDO DSN goes on to the next semicolon.
     */
    public static function withoutPasswords(string $text): string
    {
        $password = '(?:[^\s@]*|(?!\d+[^a-z\d])(?:(?!://)[^\n@])*)@(?:(?!://)[^\s])*(?<=@)';
        $text = (string) preg_replace('~(\w://[^\s:/@]*:)(?!PASSWORD@…)' . $password . '~i', '$1***@', $text);

        $ofDsn = '(\b(?:pgsql|mysql):[^\r\n]*?\bpassword\s*=)(?:;;|[^;\r\n])*';

        return (string) preg_replace("~$ofDsn|(password=)(?:'[^']*'|\"[^\"]*\"|[^\s&'\"]+)~i", '$1$2***', $text);
    }
}
