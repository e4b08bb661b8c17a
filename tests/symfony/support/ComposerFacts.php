<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony;

/** Stands for Composer\InstalledVersions, which Symfony asks, where Debian's packages are used without Composer. */
final class ComposerFacts
{
    public static function isInstalled(string $package, bool $orForDevelopment = true): bool
    {
        return false;
    }

    public static function getRootPackage(): array
    {
        return ['name' => 'tests', 'install_path' => '/nonexistent', 'dev' => true];
    }
}
