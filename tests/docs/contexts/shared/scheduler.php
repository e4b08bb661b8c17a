<?php

/** Stand-ins for those classes of Symfony 6.3 and newer that a schedule needs, where Symfony is older. tests/symfony/SchedulerTest.php has the real ones. */

namespace Symfony\Component\Messenger\Message {
    if (!class_exists(RedispatchMessage::class)) {
        final class RedispatchMessage
        {
            public function __construct(public readonly object $envelope, public readonly array|string $transportNames = [])
            {
            }
        }
    }
}

namespace Symfony\Component\Scheduler {
    if (!interface_exists(ScheduleProviderInterface::class)) {
        interface ScheduleProviderInterface
        {
            public function getSchedule(): Schedule;
        }

        final class RecurringMessage
        {
            private function __construct(public readonly object $message)
            {
            }

            public static function cron(string $expression, object $message): self
            {
                return new self($message);
            }
        }

        final class Schedule
        {
            /** @var list<RecurringMessage> */
            private array $messages = [];

            public function add(RecurringMessage $message): static
            {
                $this->messages[] = $message;

                return $this;
            }

            /** @return list<RecurringMessage> */
            public function getRecurringMessages(): array
            {
                return $this->messages;
            }
        }
    }
}
