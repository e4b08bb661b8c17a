<?php
/*
 * Prints the licences of everything that is linked into the library: of the crates that cargo links on this machine with the features that
 * are built, and of Rust's standard library. Equal texts come once. usage: php licenses.php; it fails when a crate has no text.
 */
declare(strict_types=1);
ini_set('display_errors', 'stderr');

const TEXTS = '/^(un)?licen[cs]e|^copying|^copyright|^notice/i';

/** @return list<string> the lines that a command prints */
function run(string ...$command): array
{
    exec(implode(' ', array_map('escapeshellarg', $command)), $lines, $status);
    return $status === 0 ? $lines : throw new RuntimeException("$command[0] $command[1] ended with $status");
}

/** @return list<string> the texts in the folder of a crate: also those of code that it took from others, as ring does, and those in LICENSES/ */
function textsOf(string $folder): array
{
    $texts = [];
    foreach (new RecursiveIteratorIterator(new RecursiveDirectoryIterator($folder, FilesystemIterator::SKIP_DOTS)) as $file) {
        $named = preg_match(TEXTS, $file->getFilename()) || basename($file->getPath()) === 'LICENSES';
        if ($named && !in_array($file->getExtension(), ['rs', 'c', 'h'], true)) {
            $texts[substr($file->getPathname(), strlen($folder) + 1)] = trim(str_replace("\r\n", "\n", file_get_contents($file->getPathname())), "\n");
        }
    }
    ksort($texts, SORT_STRING);
    return array_values($texts);
}

chdir(dirname(__DIR__));
preg_match('/^host: (.+)$/m', implode("\n", run('rustc', '-vV')), $host);
$metadata = implode(run('cargo', 'metadata', '--locked', '--format-version=1', "--filter-platform=$host[1]"));
$packages = json_decode($metadata, true, flags: JSON_THROW_ON_ERROR)['packages'];
$linked = array_unique(run('cargo', 'tree', '--locked', '--edges=normal,no-proc-macro', '--prefix=none', '--no-dedupe', '--format={p}'));
$crates = $ofRepository = [];
foreach ($packages as $package) {
    $folder = dirname($package['manifest_path']);
    if ($package['source'] !== null && in_array("{$package['name']} v{$package['version']}", $linked, true)) {
        $texts = textsOf($folder);
        $crates["{$package['name']} {$package['version']}"] = [$package, $texts];
        $ofRepository[$package['repository']] ??= $texts ?: null;
    }
}
ksort($crates, SORT_STRING);

$list = '';
$users = [];
foreach ($crates as $name => [$package, $texts]) {
    // A crate may have left the texts to another one of its repository.
    $texts = $texts ?: $ofRepository[$package['repository']] ?? throw new RuntimeException("$name has no licence text, and so has none of its repository");
    $list .= "$name, {$package['license']}\n";
    foreach ($texts as $text) {
        $users[$text][] = $name;
    }
}

$notices = run('rustc', '--print', 'sysroot')[0] . '/share/doc/rust/COPYRIGHT-library.html';
is_file($notices) || throw new RuntimeException("no $notices: the toolchains of rustup have it");
$library = html_entity_decode(strip_tags(file_get_contents($notices)));
$users[trim(preg_replace(['/[ \t]+$/m', '/\n{3,}/'], ['', "\n\n"], $library))][] = 'the standard library of Rust';

echo "delayqueue.so has the following libraries linked into it. Their licences are below.\n\n$list";
foreach ($users as $text => $names) {
    echo "\n", str_repeat('=', 80), "\n", implode("\n", $names), "\n", str_repeat('=', 80), "\n\n$text\n";
}
