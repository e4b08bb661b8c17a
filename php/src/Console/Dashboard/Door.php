<?php

declare(strict_types=1);

namespace DelayQueue\Console\Dashboard;

use DelayQueue\Console\Listen;
use DelayQueue\Console\PrivateFile;
use DelayQueue\Console\UsageException;
use DelayQueue\Dashboard\Request;
use DelayQueue\Dashboard\Response;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;

/**
 * Lets a browser in to the pages of `delayqueue dashboard` that names a host that is served, knows the token, and logs in where there is a login.
 * The host is looked at because a page of another site may give its own name our address, and would then be of this site.
 */
final class Door
{
    private const LOOPBACK = '/^(127(\.\d{1,3}){3}|\[::1]|localhost)$/iD';

    /**
     * @param list<string> $hosts that are served beside loopback names, in lower case
     * @param array{string, string}|null $login user and password
     */
    private function __construct(
        public readonly string $listen,
        private readonly array $hosts,
        private readonly ?array $login,
        public readonly string $token,
    ) {
    }

    public static function describe(Command $command): void
    {
        $command
            ->addOption('allow-host', null, InputOption::VALUE_REQUIRED | InputOption::VALUE_IS_ARRAY, 'A name or an address under which browsers may also ask for pages')
            ->addOption('user', null, InputOption::VALUE_REQUIRED, 'Ask for a login, with the password of --password-file')
            ->addOption('password-file', null, InputOption::VALUE_REQUIRED, 'A file whose first line is the password, and that only its owner can read');
    }

    /** @throws UsageException when the options open a door that nobody guards */
    public static function of(InputInterface $input): self
    {
        $listen = $input->getOption('listen');
        $own = Listen::host($listen, '--listen', 8025);
        $hosts = $input->getOption('allow-host');
        foreach ($hosts as $host) {
            if (!preg_match('/^(\[[\da-f:.]+]|[^:\/\s]+)$/iD', $host)) {
                throw new UsageException("--allow-host must be a name or an address without a port, such as queues.internal, not $host");
            }
        }
        $login = self::login($input->getOption('user'), $input->getOption('password-file'));
        if ($hosts === [] && $login === null && !preg_match(self::LOOPBACK, $own)) {
            throw new UsageException("others can reach $listen: give --user and --password-file, or --allow-host, or listen on 127.0.0.1");
        }

        return new self($listen, array_map(strtolower(...), [$own, ...$hosts]), $login, bin2hex(random_bytes(16)));
    }

    /** @param array{listen: string, hosts: list<string>, login: array{string, string}|null, token: string} $settings */
    public static function from(#[\SensitiveParameter] array $settings): self
    {
        return new self(...$settings);
    }

    /** @return array{listen: string, hosts: list<string>, login: array{string, string}|null, token: string} for from() */
    public function settings(): array
    {
        return ['listen' => $this->listen, 'hosts' => $this->hosts, 'login' => $this->login, 'token' => $this->token];
    }

    public function address(): string
    {
        return "http://$this->listen/$this->token/";
    }

    /** The answer to a request that may not come in; null: it may. */
    public function refusal(Request $request, string $token, ?string $user, #[\SensitiveParameter] ?string $password): ?Response
    {
        $host = strtolower((string) preg_replace('/:\d+$/D', '', $request->header('host')));
        if (!in_array($host, $this->hosts, true) && !preg_match(self::LOOPBACK, $host)) {
            return Response::text(403, 'This name is not served: delayqueue dashboard takes it with --allow-host.');
        }
        if (!hash_equals($this->token, $token)) {
            return Response::text(403, 'Open the address that delayqueue dashboard has printed.');
        }
        if ($this->login !== null && !(hash_equals($this->login[0], (string) $user) & hash_equals($this->login[1], (string) $password))) {
            return new Response(401, "Log in.\n", ['www-authenticate' => 'Basic realm="delayqueue", charset="UTF-8"', 'content-type' => 'text/plain; charset=utf-8']);
        }

        return null;
    }

    /** @return array{string, string}|null */
    private static function login(?string $user, ?string $file): ?array
    {
        if ($user === null && $file === null) {
            return null;
        }
        if ($user === null || $file === null || $user === '' || str_contains($user, ':')) {
            throw new UsageException('a login needs both --user, without a colon, and --password-file');
        }
        $password = '';
        foreach (PrivateFile::lines($file, 'password file') as $line) {
            $password = rtrim($line, "\r\n");
            break;
        }

        return $password === '' ? throw new UsageException("the first line of the password file $file is empty") : [$user, $password];
    }
}
