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
            private Redis, configurations through the program that they are for. These ones they do not run:

            | page | the sample's first line | reason |
            |---|---|---|
            $table

            MD;
    }
}
