<?php

declare(strict_types=1);

namespace DelayQueue\Search;

/**
 * The kind of an error: its text without what differs from job to job. Exception classes, SQLSTATE and codes of
 * databases, HTTP status, errno and exit codes stay, and names of hosts, classes, tables and keys. Other quoted texts
 * become …; ids, hashes, numbers, times and addresses become #.
 *
 *     ErrorKind::of("SQLSTATE[23000]: Integrity constraint violation: 1062 Duplicate entry '47' for key 'orders.id'")
 *     // SQLSTATE[23000]: Integrity constraint violation: 1062 Duplicate entry '…' for key 'orders.id'
 */
final class ErrorKind
{
    /** Bytes of a kind. */
    private const LONGEST = 400;

    /** Texts that stay, though they have digits or quotes. */
    private const CODES = [
        'exception class' => '^(?:caused by )?(?:\\\\?\w+\\\\[\w\\\\]+|\w*(?:Exception|Error))(?=: | in |$)',
        'PDO' => '(?:SQLSTATE\[\w+\]|\[(?=\d*[A-Z])[0-9A-Z]{5}\])(?: ?\(\d+\))?(?: ?\[-?\d+\])?'
            . '(?::[^:"\']{1,80}: +\d+(?= ))?',
        'other databases' => '\bORA-\d{5}\b|\bE11\d{3}\b|(?i:\berror \d+ \(\w{5}\))',
        'number of an error' => '(?i:\b(?:error|errno)[ =]#?\d{1,5}\b)',
        'status or code' => '["\']?\b(?i:status|code|errno|http_?code|status_?code|error_?code)\b["\')\]]*\s*'
            . '(?:is |of |was )?[:=#]?\s*["\'`(\[]*-?\d{1,5}\b["\'`)\]]*',
        'HTTP' => '(?i:\bHTTP[ :]\s?[1-5]\d\d\b|\b(?:response|responded with|answered|returned|got|received)'
            . '(?: with| an?)? [45]\d\d\b(?! [a-z]+s\b))',
        'HTTP in words' => '["`\']?\b[1-5]\d\d (?:OK|Continue|Created|Accepted|No|Moved|Found|Not|Bad|Unauthorized'
            . '|Payment|Forbidden|Method|Request|Proxy|Conflict|Gone|Length|Precondition|Payload|Content|URI'
            . '|Unsupported|Unprocessable|Expectation|Locked|Failed|Too|Internal|Service|Gateway|Insufficient)\b'
            . '(?: [A-Z][\w-]+)*["`\']?|`[1-5]\d\d [^`]{1,60}`',
        'SMTP' => '\b[245]\d\d[ -][245]\.\d{1,3}\.\d{1,3}\b',
        'process' => '(?i:\bexit(?:ed)?(?: with)?(?: (?:code|status))?:? \d{1,3}\b|\bsignal ["\']?\d{1,2}\b["\']?)',
        'argument' => '\b(?:Argument|Parameter) #?\d+',
        'quoted class' => '(?<w>["\'`])\\\\?[A-Za-z_]\w*(?:\\\\[A-Za-z_]\w*)+(?:::\w+)?(?:\(\))?\k<w>',
    ];

    /** Texts that are shortened. */
    private const PARTS = [
        'name' => '\b(?i:(?<!array )key|constraint|column|relation|table|index|class|interface|method|function|property'
            . '|extension) (?<q>["\'`])[A-Za-z_][\w.:$-]*\k<q>',
        'status' => '\bHTTP/\d(?:\.\d)? (?<status>[1-5]\d\d)\b(?: [A-Z][\w-]+)* *',
        'url' => '\b(?<scheme>[a-z][a-z0-9+.-]{1,15}:/+)(?:[^\s/@"\'`]*@)?(?<host>[^\s/:?#"\'`<>)\]]*)[^\s"\'`<>)\]]*',
        'prefix' => '\b(?<prefix>[a-z]{2,5}_(?:test_|live_)?)(?=\w*(?:\d|[a-z][A-Z]))\w{8,}',
        'quoted' => '(?<![\w.])(?:(?<quote>["\'`])(?:\\\\.|(?!\k<quote>).)*(?:\k<quote>(?!\w)|$)'
            . '|“[^”]*”|„[^“]*“|«[^»]*»)',
        'cut' => '\((?:Connection:|SQL:).*$|\bwith param(?:s|eters) \[.*?\](?=:|$)'
            . '|(?<=@anonymous)\x00?[^\s:]+(?::\d+\$\w+)?|(?<=/tmp/)[^\s"\'`):,]+',
    ];

    /** Texts that are left out. */
    private const VALUES = [
        'e-mail address' => '[\w.+-]+@[\w-]+(?:\.[\w-]+)+',
        'UUID' => '\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b',
        'hash' => '\b(?=\d*[a-fA-F])(?=[a-fA-F]*\d)[0-9a-fA-F]{8,}\b|\b[0-9a-f]{16,}\b|\b0x[0-9a-fA-F]+\b',
        'ULID' => '\b(?=[A-Z]*\d)[0-9A-HJKMNP-TV-Z]{26}\b',
        'token' => '\beyJ[\w-]+(?:\.[\w-]+){1,2}'
            . '|(?<![A-Za-z\d])(?=[A-Za-z]*\d+[A-Za-z]+\d)[A-Za-z\d]{8,}(?![A-Za-z\d])',
        'time' => '\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)?(?:Z| ?UTC| ?[+-]\d\d:?\d\d)?\b',
        'time in words' => '\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\w*,? )?\d{1,2}[ -]'
            . '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\w*[ -]\d{2,4}'
            . '(?: \d\d:\d\d(?::\d\d)?)?(?: (?:GMT|UTC|[+-]\d{4}))?\b',
        'IPv6 address' => '\[?(?<![\w:])(?=[0-9a-fA-F:]*\d)(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{0,4}(?![\w:])'
            . '\]?(?::\d+)?',
        'number' => '(?:(?<![\w)\]])[-+])?\d+(?:[.,:]\d+)*(?:[eE][-+]?\d+)?'
            . '(?: ?(?:bytes?|[KMGT]i?B|ms|µs|s|milliseconds?|microseconds?|sec|seconds?|minutes?|hours?|days?)\b)?',
    ];

    /** @return string one line; '' of no error */
    public static function of(string $error): string
    {
        $kind = implode(' ', array_map(self::ofLine(...), self::telling($error)));

        if (strlen($kind) <= self::LONGEST) {
            return $kind;
        }

        // No half of a character at the end.
        return (string) preg_replace('/[\xC0-\xFF][\x80-\xBF]*$/D', '', substr($kind, 0, self::LONGEST));
    }

    /** @return list<string> the first line, lines that begin with a code, and the causes without their places */
    private static function telling(string $error): array
    {
        $lines = explode("\n", $error);
        $others = preg_grep('/^(?:SQLSTATE\[|Exit Code: |caused by )/', array_slice($lines, 1)) ?: [];
        $telling = [trim($lines[0]), ...array_values($others)];

        return (array) preg_replace('/^(caused by .*) in \S+:\d+$/D', '$1', $telling);
    }

    private static function ofLine(string $line): string
    {
        $replaced = static fn (array $found): string => match ($found['MARK'] ?? null) {
            null => $found[0],
            'name' => self::withoutNumbers($found[0]),
            'status' => "HTTP $found[status] ",
            'url' => $found['scheme'] . self::withoutNumbers($found['host']) . '/…',
            'prefix' => "$found[prefix]#",
            'quoted' => self::quoted($found[0], $found['quote'] ?? '"'),
            'cut' => '…',
            default => '#',
        };

        return preg_replace_callback(self::pattern(), $replaced, $line) ?? $line;
    }

    /** Of an address its host stays. */
    private static function quoted(string $text, string $quote): string
    {
        $url = '~\b([a-z][a-z0-9+.-]{1,15}://)(?:[^\s/@]*@)?([^\s/:?#"\'`]+)~';
        $host = preg_match($url, $text, $found) === 1 ? $found[1] . self::withoutNumbers($found[2]) . '/' : '';

        return $quote . $host . '…' . $quote;
    }

    private static function withoutNumbers(string $name): string
    {
        return (string) preg_replace('/\d+(?:\.\d+)*/', '#', $name);
    }

    /** At each place the first alternative that fits decides. */
    private static function pattern(): string
    {
        static $pattern = null;
        if ($pattern === null) {
            $marked = static fn (string $part, string $mark): string => "(?:$part)(*MARK:$mark)";
            $parts = array_map($marked, self::PARTS, array_keys(self::PARTS));
            $value = $marked(implode('|', self::VALUES), 'value');
            $pattern = '~' . implode('|', [...array_values(self::CODES), ...$parts, $value]) . '~';
        }

        return $pattern;
    }
}
