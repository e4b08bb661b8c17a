<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard;

use DelayQueue\Internal\Json;
use Stringable;

/**
 * An element of a page, named as in HTML: Html::td('4 s', class: 'number'). Children are texts, numbers, other elements, lists of these, and null for nothing.
 * An attribute that is true stands without a value, one that is null or false is left out; aria_label is aria-label.
 *
 * Each text goes through escape(): there is no other way into a page.
 */
final class Html implements Stringable
{
    private const CUT = '…';
    private const VOID = ['br', 'hr', 'input', 'link', 'meta'];

    private function __construct(private readonly string $markup)
    {
    }

    /** @param array<array-key, mixed> $content children by their places, attributes by their names */
    public static function __callStatic(string $tag, array $content): self
    {
        $attributes = $children = '';
        foreach ($content as $key => $value) {
            if (is_int($key)) {
                $children .= self::markup($value);
            } elseif ($value !== null && $value !== false) {
                $attributes .= ' ' . strtr($key, '_', '-') . ($value === true ? '' : '="' . self::escape((string) $value) . '"');
            }
        }

        return new self("<$tag$attributes>" . (in_array($tag, self::VOID, true) ? '' : "$children</$tag>"));
    }

    /** Stored bytes, which anybody may have written: cut, and in a direction of writing of their own. */
    public static function stored(string $bytes, int $length = 200): self
    {
        $text = self::text($bytes, $length);

        return self::bdi($text, title: str_ends_with($text, self::CUT) ? 'Cut: the text is longer' : null);
    }

    /** Stored bytes as a text, for titles: valid, cut, and without characters that would change what stands around it. */
    public static function text(string $bytes, int $length = 200): string
    {
        $head = substr($bytes, 0, 4 * $length);
        $valid = json_decode((string) json_encode($head, JSON_INVALID_UTF8_SUBSTITUTE), flags: JSON_THROW_ON_ERROR);
        preg_match("/^.{0,$length}/us", $valid, $text);
        $isCut = $text[0] !== $valid || strlen($head) < strlen($bytes);

        return implode("\n", array_map(Json::withoutOrders(...), explode("\n", $text[0]))) . ($isCut ? self::CUT : '');
    }

    public function __toString(): string
    {
        return $this->markup;
    }

    private static function markup(mixed $child): string
    {
        return match (true) {
            $child instanceof self => $child->markup,
            is_array($child) => implode('', array_map(self::markup(...), $child)),
            $child === null, $child === false => '',
            default => self::escape((string) $child),
        };
    }

    private static function escape(string $text): string
    {
        return htmlspecialchars($text, ENT_QUOTES | ENT_SUBSTITUTE | ENT_HTML5, 'UTF-8');
    }
}
