<?php

declare(strict_types=1);

// The deduplication of Messenger 7.3 and the locks of the package symfony/lock, for tests where they are not installed.

namespace Symfony\Component\Lock {
    if (!class_exists(Key::class)) {
        final class Key
        {
            public readonly string $owner;

            public function __construct(private readonly string $resource)
            {
                $this->owner = bin2hex(random_bytes(8));
            }

            public function __toString(): string
            {
                return $this->resource;
            }
        }

        final class Lock
        {
            public function __construct(private readonly Key $key, private readonly Store\InMemoryStore $store)
            {
            }

            public function acquire(): bool
            {
                return ($this->store->owners[(string) $this->key] ??= $this->key->owner) === $this->key->owner;
            }

            public function release(): void
            {
                if (($this->store->owners[(string) $this->key] ?? null) === $this->key->owner) {
                    unset($this->store->owners[(string) $this->key]);
                }
            }
        }

        final class LockFactory
        {
            public function __construct(private readonly Store\InMemoryStore $store)
            {
            }

            public function createLockFromKey(Key $key, ?float $ttl = 300.0, bool $autoRelease = true): Lock
            {
                return new Lock($key, $this->store);
            }
        }
    }
}

namespace Symfony\Component\Lock\Store {
    if (!class_exists(InMemoryStore::class)) {
        final class InMemoryStore
        {
            /** @var array<string, string> by resource */
            public array $owners = [];
        }
    }
}

namespace Symfony\Component\Messenger\Stamp {
    if (!class_exists(DeduplicateStamp::class)) {
        final class DeduplicateStamp implements StampInterface
        {
            private readonly \Symfony\Component\Lock\Key $key;

            public function __construct(
                string $key,
                private readonly ?float $ttl = 300.0,
                private readonly bool $onlyDeduplicateInQueue = false,
            ) {
                $this->key = new \Symfony\Component\Lock\Key($key);
            }

            public function getKey(): \Symfony\Component\Lock\Key
            {
                return $this->key;
            }

            public function getTtl(): ?float
            {
                return $this->ttl;
            }

            public function onlyDeduplicateInQueue(): bool
            {
                return $this->onlyDeduplicateInQueue;
            }
        }
    }
}

namespace Symfony\Component\Messenger\Middleware {
    use Symfony\Component\Lock\LockFactory;
    use Symfony\Component\Messenger\Envelope;
    use Symfony\Component\Messenger\Stamp\DeduplicateStamp;
    use Symfony\Component\Messenger\Stamp\ReceivedStamp;

    if (!class_exists(DeduplicateMiddleware::class)) {
        final class DeduplicateMiddleware implements MiddlewareInterface
        {
            public function __construct(private readonly LockFactory $locks)
            {
            }

            public function handle(Envelope $envelope, StackInterface $stack): Envelope
            {
                $stamp = $envelope->last(DeduplicateStamp::class);
                $isReceived = $envelope->last(ReceivedStamp::class) !== null;
                $lock = null;
                if ($stamp !== null) {
                    $lock = $this->locks->createLockFromKey($stamp->getKey(), $stamp->getTtl(), false);
                }
                if ($lock !== null && !$isReceived && !$lock->acquire()) {
                    return $envelope;
                }
                if ($isReceived && $stamp?->onlyDeduplicateInQueue()) {
                    $lock->release();
                }
                $envelope = $stack->next()->handle($envelope, $stack);
                $isReceived && $lock?->release();

                return $envelope;
            }
        }
    }
}
