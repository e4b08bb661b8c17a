<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Dashboard;

use DelayQueue;
use DelayQueue\Dashboard\Access;
use DelayQueue\Dashboard\ChangeLog;
use DelayQueue\Dashboard\Handler;
use DelayQueue\Dashboard\HttpFoundation;
use DelayQueue\Dashboard\Response as Answer;
use DelayQueue\Database\Journal;
use DelayQueue\JobInfo;
use DelayQueue\Symfony\Canceller;
use Psr\Log\LoggerInterface;
use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\HttpFoundation\Response;
use Symfony\Component\Security\Core\Authentication\Token\Storage\TokenStorageInterface;
use Symfony\Component\Security\Core\Authorization\AuthorizationCheckerInterface;
use Symfony\Component\Security\Core\Exception\AuthenticationCredentialsNotFoundException;

/**
 * The dashboard behind a route of Symfony. It is closed unless delay_queue.dashboard.role_read names a role that the user has. Without SecurityBundle
 * nobody has one: then a controller of the application calls the Handler with a rule of its own.
 */
final class DashboardController
{
    public function __construct(
        private readonly Canceller $transports,
        private readonly ?string $transport,
        private readonly ?string $mayRead,
        private readonly ?string $mayWrite,
        private readonly ?AuthorizationCheckerInterface $checker,
        private readonly ?TokenStorageInterface $tokens,
        private readonly ?Journal $journal,
        private readonly ?LoggerInterface $logger,
    ) {
    }

    public function __invoke(Request $request, string $path): Response
    {
        $access = $this->access();
        if ($access === Access::None) {
            return HttpFoundation::response(Answer::text(403, 'You may not see this.'));
        }
        $transport = $this->transports->transport($this->transport);
        $handler = new Handler(
            $transport->queue(),
            static fn (): Access => $access,
            journal: $this->journal,
            changed: $this->logger === null ? null : new ChangeLog($this->logger),
            cancel: fn (DelayQueue $queue, JobInfo ...$jobs): int =>
                $this->transports->cancelFound($transport, $queue, ...$jobs),
        );

        return HttpFoundation::response($handler->handle(HttpFoundation::request($request, $path, $this->tokens?->getToken()?->getUserIdentifier())));
    }

    private function access(): Access
    {
        return match (true) {
            !$this->isGranted($this->mayRead) => Access::None,
            $this->isGranted($this->mayWrite) => Access::Write,
            default => Access::Read,
        };
    }

    private function isGranted(?string $role): bool
    {
        try {
            return $role !== null && $this->checker?->isGranted($role) === true;
        } catch (AuthenticationCredentialsNotFoundException) {
            return false; // no firewall is in front of these pages
        }
    }
}
