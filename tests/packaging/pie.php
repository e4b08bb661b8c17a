<?php
/*
 * The checks of PIE that a script can repeat: composer.json as its schema and manual say, and the files of a folder by the names that
 * its PrePackagedBinaryAssetName looks for. usage: php pie.php FOLDER PLATFORM TARBALL, as in php8.4-arm64-linux-glibc, and the folder of the
 * unpacked tarball; prints each fault, and exits with 1 if there is one.
 */
declare(strict_types=1);

[, $folder, $platform, $tarball] = $argv;
$composer = json_decode(file_get_contents(__DIR__ . '/../../composer.json'), true, flags: JSON_THROW_ON_ERROR);
$package = json_decode(file_get_contents(__DIR__ . '/../../php/composer.json'), true, flags: JSON_THROW_ON_ERROR);
preg_match('/^version = "(.+)"$/m', file_get_contents(__DIR__ . '/../../Cargo.toml'), $version);
$extension = $composer['php-ext'] ?? [];
$known = ['extension-name', 'priority', 'support-zts', 'support-nts', 'build-path', 'download-url-method', 'os-families',
    'os-families-exclude', 'configure-options'];
$methods = ['composer-default', 'pre-packaged-source', 'pre-packaged-binary'];
$options = array_column($extension['configure-options'] ?? [], 'name');
$m4 = file_get_contents(__DIR__ . '/../../config.m4');
$zip = strtolower("php_{$extension['extension-name']}-{$version[1]}_$platform.zip");

$archive = new PharData("$folder/$zip");
$isThatOfTheTarball = fn (string $file) => isset($archive[$file]) && $archive[$file]->getContent() === file_get_contents("$tarball/$file");
$checks = [
    'the type is php-ext' => $composer['type'] === 'php-ext',
    'the name is a vendor and a package' => preg_match('~^[a-z0-9]([_.-]?[a-z0-9]+)*/[a-z0-9](([_.]|-{1,2})?[a-z0-9]+)*$~', $composer['name']) === 1,
    'no PHP package has the same name' => $composer['name'] !== $package['name'],
    'the extension has a name that PHP takes' => preg_match('/^[A-Za-z][a-zA-Z0-9_]+$/', $extension['extension-name']) === 1,
    'all settings are known' => array_diff(array_keys($extension), $known) === [],
    'the priority is between 10 and 99' => $extension['priority'] >= 10 && $extension['priority'] <= 99,
    'binaries come before the source' => $extension['download-url-method'] === ['pre-packaged-binary', 'composer-default'],
    'all ways of downloading are known' => array_diff($extension['download-url-method'], $methods) === [],
    'systems are either listed or excluded' => isset($extension['os-families']) xor isset($extension['os-families-exclude']),
    'config.m4 knows every option' => $options === array_filter($options, fn ($o) => preg_match('/^enable-(.+)$/', $o, $m) && str_contains($m4, "PHP_ARG_ENABLE([$m[1]]")),
    'only the platform is required' => array_diff(array_keys($composer['require']), ['php']) === [],
    "$zip is there" => is_file("$folder/$zip"),
    'the zip has the library of the tarball at its top' => $isThatOfTheTarball('delayqueue.so'),
    'the zip has the licences of the tarball' => $isThatOfTheTarball('LICENSE') && $isThatOfTheTarball('THIRD-PARTY-LICENSES'),
];
$faults = array_keys($checks, false, true);
array_map(fn ($fault) => print("not so: $fault\n"), $faults);
exit($faults === [] ? 0 : 1);
