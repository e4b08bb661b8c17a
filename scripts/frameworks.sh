#!/usr/bin/env bash
# frameworks: the tests of the framework adapters on the newest versions that Debian has: Laravel 13, Symfony 7.4, PHP 8.4.
# They come from a Debian sid in a folder, FRAMEWORKS_DIR/sid (target/frameworks/sid), made by debootstrap the first time.
#
# The extension is built for that PHP. Where the build fails, the same packages, which are PHP alone, are run by the PHP of this machine.
# FRAMEWORKS_PHP=here leaves the build out.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=scripts/debian.sh
source "$root/scripts/debian.sh"

packages=(
  php8.4-cli php8.4-dev php8.4-xml php8.4-mbstring php8.4-sqlite3 php8.4-curl php-redis phpunit redis-server
  php-symfony-framework-bundle php-symfony-messenger php-symfony-redis-messenger php-symfony-console php-symfony-yaml
  php-symfony-cache php-symfony-process php-symfony-http-client php-psr-clock php-psr-event-dispatcher
  php-laravel-framework
)
frameworks_dir=$(realpath -m "${FRAMEWORKS_DIR:-$target_dir/frameworks}")
system=$frameworks_dir/sid

# A php-config and a php for the build, which are the folder's.
make_tools() {
  mkdir -p "$frameworks_dir/bin"
  printf '#!/bin/sh\nexec %schroot "%s" /usr/bin/php8.4 "$@"\n' "$([ "$(id -u)" -eq 0 ] || echo 'sudo ')" "$system" >"$frameworks_dir/bin/php"
  {
    printf '#!/bin/sh\ncase $1 in\n--php-binary) echo "%s" ;;\n' "$frameworks_dir/bin/php"
    printf '*) "%s" /usr/bin/php-config8.4 "$@" | sed "s#/usr/include#%s/usr/include#g" ;;\nesac\n' \
      "$frameworks_dir/bin/chroot" "$system"
  } >"$frameworks_dir/bin/php-config"
  printf '#!/bin/sh\nroot=%s\nshift 0\nexec %schroot "$root" "$@"\n' "$system" "$([ "$(id -u)" -eq 0 ] || echo 'sudo ')" >"$frameworks_dir/bin/chroot"
  chmod +x "$frameworks_dir"/bin/*
}
