#!/usr/bin/env bash
# frameworks: the tests of the framework adapters on newer versions than this Debian has: those of Debian sid (Symfony 7.4, Laravel 13),
# in a folder, FRAMEWORKS_DIR/sid (target/frameworks/sid), that debootstrap makes the first time. FRAMEWORKS_SERIES=trixie takes those of
# Debian 13 (Symfony 6.4, Laravel 10).
#
# The extension is built for the folder's PHP 8.4, and the tests run in the folder. The packages are PHP alone: with FRAMEWORKS_PHP=here the
# tests use them from the PHP of this machine.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=scripts/debian.sh
source "$root/scripts/debian.sh"

packages=(
  php8.4-cli php8.4-dev php8.4-xml php8.4-mbstring php8.4-sqlite3 php8.4-curl php8.4-redis phpunit redis-server util-linux
  php-symfony-framework-bundle php-symfony-messenger php-symfony-console php-symfony-yaml php-symfony-scheduler php-psr-clock php-psr-event-dispatcher
  php-symfony-lock php-symfony-security-bundle php-laravel-framework
  php8.4-pgsql php8.4-mysql postgresql mariadb-server-core mariadb-client-core
  php-doctrine-dbal php-doctrine-orm php-symfony-doctrine-bridge php-symfony-doctrine-messenger
)
suites=(tests/symfony php/tests/Laravel)
frameworks_dir=$(realpath -m "${FRAMEWORKS_DIR:-$target_dir/frameworks}")
series=${FRAMEWORKS_SERIES:-sid}
system=$frameworks_dir/$series
# Where debian.sh puts programs of the folder.
# shellcheck disable=SC2034
matrix_dir=$frameworks_dir

# The folder's libraries without its PHPUnit, which needs a newer PHP: for the PHP of this machine.
make_libraries() {
  local part
  libraries=$frameworks_dir/libraries
  rm -rf "$libraries"
  mkdir -p "$libraries"
  for part in "$system"/usr/share/php/*; do
    case "${part##*/}" in PHPUnit | SebastianBergmann | PharIo | TheSeer | DeepCopy) ;; *) ln -s "$part" "$libraries/" ;; esac
  done
}

run_here() {
  local phpunit
  phpunit=$(command -v "${PHPUNIT:-phpunit}") || die "no phpunit: run ./build.sh setup, or set PHPUNIT to its path"
  use_built_extension
  make_libraries
  find_strict_options "$phpunit"
  # shellcheck disable=SC2154
  "$PHP" -d "include_path=.:$libraries:$("$PHP" -n -r 'echo get_include_path();')" "$phpunit" \
    --configuration "$1/phpunit.xml" "${strict[@]}"
}

run_there() {
  # shellcheck disable=SC2016
  in_debian "$system" "$frameworks_dir" env PHP_INI_SCAN_DIR=":$frameworks_dir/php.d" PHP=php8.4 bash -euo pipefail -c '
    source scripts/common.sh
    find_strict_options /usr/bin/phpunit
    exec phpunit --configuration "$1/phpunit.xml" "${strict[@]}"' bash "$1"
}

"$root/build.sh" setup
# A folder of an earlier list of packages is made anew.
has_packages "$system" "${packages[@]}" || "${as_root[@]}" rm -rf --one-file-system "$system"
make_debian "$system" "$series" "${packages[@]}"
where=${FRAMEWORKS_PHP:-$series}
if [ "$where" != here ]; then
  run=run_there
  use_php 8.4
  say "building the extension for PHP 8.4"
  CARGO_TARGET_DIR=$frameworks_dir/cargo cargo build --release --locked ||
    die "the extension does not compile for PHP 8.4; FRAMEWORKS_PHP=here goes without it"
  mkdir -p "$frameworks_dir/php.d"
  printf 'extension=%s\n' "$frameworks_dir/cargo/release/libdelayqueue.so" >"$frameworks_dir/php.d/99-delayqueue.ini"
else
  run=run_here
  "$root/build.sh" build
  find_php
fi

versions() {
  awk '/^Package: / { name = $2 }
    /^Version: / && (name == "php-symfony-messenger" || name == "php-laravel-framework") { printf "%s%s %s", comma, name, $2; comma = ", " }
  ' "$system/var/lib/dpkg/status"
}

failed=()
for suite in "${suites[@]}"; do
  [ -f "$suite/phpunit.xml" ] || continue
  say "$suite with $(versions), PHP: $where"
  "$run" "$suite" || failed+=("$suite")
done
[ "${#failed[@]}" -eq 0 ] || die "tests failed in: $(printf '%s; ' "${failed[@]}")their messages are above"
say "frameworks: all suites passed"
