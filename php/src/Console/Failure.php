<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue\ConnectionException;
use DelayQueue\Database\SchemaException;
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
        if ($error instanceof ValueError) {
            // The extension names its parameters: $maxAttempts is max-attempts here.
            $message = (string) preg_replace_callback(
                '/^DelayQueue(?:\\\\GroupLimits)?::\w+\(\): (?:Argument #\d+ \(\$(\w+)\)|Option "(\w+)")/',
                static fn (array $name): string => strtolower((string) preg_replace('/[A-Z]/', '-$0', $name[2] ?? $name[1])),
                $message,
            );
            $message = (string) preg_replace('/^DelayQueue\\\\Backoff::parse\(\): Argument #1 \(\$text\)/', 'backoff', $message);
            $message = (string) preg_replace('/^DelayQueue(?:\\\\GroupLimits)?::\w+\(\): /', '', $message);
            $message = (string) preg_replace('/\bargument #\d+ \(\$(\w+)\)/', '$1', $message);
            $beside = "/'(\w+)' is an option of the queue, and stands beside the DSN$/D";
            $message = (string) preg_replace($beside, 'give it by --$1', $message);
            $message = self::withCureOfCommandLine($message);
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

    /** The cure of a Unix time in place of a delay is PHP code in the extension's words. Here it is --at, or the shell's arithmetic where there is no --at. */
    private static function withCureOfCommandLine(string $message): string
    {
        return (string) preg_replace_callback(
            '/^(\S+)( must be a delay, and (\S+) looks like a Unix time: for a moment give ).+$/D',
            static function (array $found): string {
                [, $option, $words, $time] = $found;

                return $option . $words . ($option === 'delay' ? Moment::option($time) : sprintf('--%s=$((%d - $(date +%%s)))', $option, $time));
            },
            $message,
        );
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
