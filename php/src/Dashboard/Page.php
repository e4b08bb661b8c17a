<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard;

/** One page. It reads; changes are in Actions. */
interface Page
{
    public function title(Request $request): string;

    /** @return list<Html> what stands below the title; an element with an id and data-live is replaced while the page stays open */
    public function body(Request $request, Site $site): array;
}
