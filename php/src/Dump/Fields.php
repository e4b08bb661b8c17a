<?php

declare(strict_types=1);

namespace DelayQueue\Dump;

use DelayQueue\Internal\Json;
use JsonException;
use UnexpectedValueException;

/**
 * The members of a line of a dump.
 *
 * @internal
 */
final class Fields
{
    /** @param array<string, mixed> $fields */
    private function __construct(private readonly array $fields)
    {
    }

    /** @throws UnexpectedValueException */
    public static function of(string $line): self
    {
        try {
            $fields = json_decode($line, true, flags: JSON_THROW_ON_ERROR);
        } catch (JsonException $error) {
            throw new UnexpectedValueException("not JSON: {$error->getMessage()}", 0, $error);
        }

        return is_array($fields) ? new self($fields) : throw new UnexpectedValueException('not an object');
    }

    /**
     * Without a line's end. Strings that are not UTF-8 are under their name and "Base64".
     *
     * @param array<string, ?string> $texts
     * @param array<string, mixed> $others
     */
    public static function line(array $texts, array $others = []): string
    {
        $fields = [];
        foreach ($texts as $name => $text) {
            $isText = preg_match('//u', $text ?? '') === 1;
            $fields += $isText ? [$name => $text] : [$name . 'Base64' => base64_encode((string) $text)];
        }

        return Json::line($fields + $others);
    }

    public function has(string $name): bool
    {
        return isset($this->fields[$name]);
    }

    public function text(string $name): string
    {
        return $this->textOrNull($name) ?? throw self::missing($name);
    }

    public function textOrNull(string $name): ?string
    {
        $text = $this->fields[$name] ?? null;
        if ($text === null && is_string($this->fields[$name . 'Base64'] ?? null)) {
            $text = base64_decode($this->fields[$name . 'Base64'], true);
        }

        return $text === null || is_string($text) ? $text : throw self::missing($name);
    }

    public function number(string $name): float
    {
        return $this->numberOrNull($name) ?? throw self::missing($name);
    }

    public function numberOrNull(string $name): ?float
    {
        $number = $this->fields[$name] ?? null;
        if ($number === null) {
            return null;
        }

        return is_int($number) || (is_float($number) && is_finite($number)) ? (float) $number : throw self::missing($name);
    }

    /**
     * A number to which one can be added.
     *
     * @param int|null $default of a line without this member; null: there is none
     */
    public function count(string $name, ?int $default = null): int
    {
        $count = $this->fields[$name] ?? $default;

        return is_int($count) && $count >= 0 && $count < PHP_INT_MAX ? $count : throw self::missing($name);
    }

    /** False in a line without this member. */
    public function flag(string $name): bool
    {
        $flag = $this->fields[$name] ?? false;

        return is_bool($flag) ? $flag : throw self::missing($name);
    }

    /** @return array<string> none in a line without this member */
    public function texts(string $name): array
    {
        $texts = $this->fields[$name] ?? [];

        return is_array($texts) && array_filter($texts, is_string(...)) === $texts ? $texts : throw self::missing($name);
    }

    public static function missing(string $name): UnexpectedValueException
    {
        return new UnexpectedValueException("no usable \"$name\"");
    }
}
