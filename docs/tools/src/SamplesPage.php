<?php

declare(strict_types=1);

namespace DelayQueue\Docs;

/** The page that counts the samples, and says why some are not run. */
final class SamplesPage
{
    public static function of(Site $site): string
    {
        $all = $rows = [];
        foreach ($site->documents() as $path => $page) {
            foreach (Sample::of($path, $site->read($path)) as $sample) {
                if ($sample->language === 'text' && $sample->title === '' && !$sample->isOutput) {
                    continue; // a drawing
                }
                $all[] = $sample;
                if ($sample->notRun !== null) {
                    $rows[] = sprintf('| [%s](%s) | `%s` | %s |', $page, $page, strtr(strtok($sample->code, "\n"), ['|' => '\|', '`' => "'"]), $sample->notRun);
                }
            }
        }
        $count = count($all);
        $run = $count - count($rows);
        $table = implode("\n", $rows);

        return <<<MD
            # The samples of these pages

            The documents of this site have $count samples of code. The tests of the project (`./build.sh docs`) run $run of them: programs and commands against a
            private Redis, whose output is compared where a page shows it; configurations by the program that reads them. These ones they do not run:

            | page | the sample's first line | reason |
            |---|---|---|
            $table

            MD;
    }
}
