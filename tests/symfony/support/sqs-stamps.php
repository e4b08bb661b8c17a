<?php

declare(strict_types=1);

namespace Symfony\Component\Messenger\Bridge\AmazonSqs\Transport;

use Symfony\Component\Messenger\Stamp\NonSendableStampInterface;

// The stamps of the package symfony/amazon-sqs-messenger that name a group, for tests where it is not installed.

if (!class_exists(AmazonSqsFifoStamp::class)) {
    final class AmazonSqsFifoStamp implements NonSendableStampInterface
    {
        public function __construct(private readonly ?string $messageGroupId = null, private readonly ?string $messageDeduplicationId = null)
        {
        }

        public function getMessageGroupId(): ?string
        {
            return $this->messageGroupId;
        }

        public function getMessageDeduplicationId(): ?string
        {
            return $this->messageDeduplicationId;
        }
    }
}

if (!class_exists(AmazonSqsFairQueueStamp::class)) {
    final class AmazonSqsFairQueueStamp implements NonSendableStampInterface
    {
        public function __construct(private readonly string $messageGroupId)
        {
        }

        public function getMessageGroupId(): string
        {
            return $this->messageGroupId;
        }
    }
}
