<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard;

use DelayQueue\QueueInterface;
use DelayQueue\Search\Search;
use DelayQueue\State;
use ValueError;

/** A visitor's search in a queue, from the address of a page or the fields of a form. */
final class Find
{
    private const WORDS = ['tag', 'header', 'text', 'error', 'kind'];

    /** @param array<string, string> $words by WORDS */
    private function __construct(public readonly string $queue, public readonly State $state, public readonly array $words)
    {
    }

    /**
     * @param callable(string): ?string $field
     * @param bool $mayLookInside false: payloads are hidden, and no answer tells what is in them
     */
    public static function of(string $queue, State $state, callable $field, bool $mayLookInside): self
    {
        $words = array_filter(array_combine(self::WORDS, array_map($field, self::WORDS)), static fn (?string $word): bool => $word !== null);
        if (!$mayLookInside) {
            unset($words['text']);
        }

        return new self($queue, $state, $words);
    }

    public function isAll(): bool
    {
        return $this->words === [];
    }

    /** @return array<string, string> of a page or a form that looks for this */
    public function parameters(): array
    {
        return ['queue' => $this->queue, 'state' => $this->state->value] + $this->words;
    }

    /** @param string|null $after Search::next() of the page before */
    public function in(QueueInterface $queue, ?string $after = null): Search
    {
        $search = Search::in($queue, $this->state);
        isset($this->words['tag']) && $search = $search->tag(...array_map(trim(...), explode(',', $this->words['tag'])));
        isset($this->words['header']) && $search = $search->header(...self::header($this->words['header']));
        isset($this->words['text']) && $search = $search->payload($this->words['text']);
        isset($this->words['error']) && $search = $search->error($this->words['error']);
        isset($this->words['kind']) && $search = $search->errorKind($this->words['kind']);

        return $after === null ? $search : $search->after($after);
    }

    public function form(Site $site): Html
    {
        return Html::form(
            Html::input(type: 'hidden', name: 'queue', value: $this->queue),
            Html::input(type: 'hidden', name: 'state', value: $this->state->value),
            Parts::field('Tags', 'tag', $this->words['tag'] ?? '', 'tenant:42'),
            Parts::field('Header', 'header', $this->words['header'] ?? '', 'tenant: acme'),
            $site->hidesPayloads ? null : Parts::field('Payload has', 'text', $this->words['text'] ?? ''),
            Parts::field('Last error has', 'error', $this->words['error'] ?? ''),
            isset($this->words['kind'])
                ? Parts::field('Error of the kind', 'kind', $this->words['kind'], '', 40)
                : null,
            Html::button('Search'),
            $this->isAll() ? null : Html::a('Show all', href: $site->url('/queue', ['queue' => $this->queue, 'state' => $this->state->value])),
            method: 'get',
            action: $site->url('/queue'),
            role: 'search',
        );
    }

    /** @return array{string, string} name and value, as the command line has them */
    private static function header(string $words): array
    {
        [$name, $value] = explode(':', $words, 2) + [1 => null];

        return [trim($name), trim($value ?? throw new ValueError('A header is searched as "name: value"'))];
    }

    /** Changes of all that is found, or of all jobs of the state. */
    public function changes(Site $site, int $number): ?Html
    {
        if (!$site->mayWrite() || $number === 0 || $this->state === State::Reserved) {
            return null;
        }
        $hidden = $this->parameters() + ['total' => (string) $number];

        return Html::details(
            Html::summary($this->isAll() ? "Change all {$this->state->value} jobs" : 'Change all that are found'),
            $this->state === State::Ready ? null : Parts::form($site, '/found/kick', $hidden, $this->state === State::Buried ? 'Try them again' : 'Run them now'),
            Parts::form($site, '/found/reschedule', $hidden, 'Move them', Parts::field('Due in', 'delay', '15m')),
            Parts::form($site, '/found/move', $hidden, 'Move them there', Parts::field('To the queue', 'to')),
            Parts::danger($site, '/found/cancel', $hidden, 'Cancel them', 'Cancel them for ever'),
            class: 'controls',
        );
    }
}
