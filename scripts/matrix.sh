#!/usr/bin/env bash
# matrix: the core and the PHP surface on the servers of a newer Debian, Redis 8.0 and Valkey 8.1; the PHP surface, the package and the
# processes on its PHP 8.4; and what ./build.sh dist makes for both PHPs, installed in a Debian of each. scripts/debian.sh makes these Debians.
# No Debian here has the oldest server that is supported: REDIS_OLDEST names a redis-server 6.2, for the core and the PHP surface.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=scripts/suites.sh
source "$root/scripts/suites.sh"
# shellcheck source=scripts/debian.sh
source "$root/scripts/debian.sh"

servers=(redis-server valkey-server) # programs of the folder

"$root/build.sh" setup
"$root/build.sh" build
find_php
make_system trixie redis-server valkey-server php8.4-cli php8.4-dev php8.4-fpm php8.4-xml php8.4-mbstring php8.4-sqlite3 php8.4-curl phpunit \
  php-symfony-console php-symfony-http-client openssl supervisor valgrind
programs=()
[ -z "${REDIS_OLDEST:-}" ] || programs+=("$(realpath "$REDIS_OLDEST")")
for server in "${servers[@]}"; do programs+=("$(make_program "$server")"); done
for REDIS_SERVER in "${programs[@]}"; do
  export REDIS_SERVER
  version=$("$REDIS_SERVER" --version | awk '{ sub("v=", "", $3); print $1, $3 }')
  # The mutants test the tests, and need no second server for that.
  suite "$version, the core" test_core --test core -- --skip mutants
  suite "$version, the PHP surface" test_surface
done

# The packages are those of a release, and so is the library of the tests on PHP 8.4.
dist_dir=$(realpath -m "${DIST_DIR:-$target_dir/dist}")
host_php=$PHP host_php_config=$PHP_CONFIG

make_packages() {
  "$root/build.sh" dist || return 1
  closing=$(find "$dist_dir" -type f -name "*php$("$PHP_CONFIG" --version | cut -d. -f1-2)*" | wc -l)" files in $dist_dir"
}

test_packaging() {
  local status=0
  PHP=$host_php PHP_CONFIG=$host_php_config tests/packaging.sh "$dist_dir" 2>&1 | tee "$log" || status=$?
  closing=$(tail -n 1 "$log")
  return "$status"
}

# test_there SERVER TEST …: a test_… function of scripts/suites.sh in the folder.
test_there() {
  # shellcheck disable=SC2016
  test_script in_debian "$system" "$target_dir" env CARGO_TARGET_DIR="$target_dir" PHP_CONFIG=php-config8.4 PHP=php8.4 REDIS_SERVER="/usr/bin/$1" \
    bash -euo pipefail -c 'source scripts/common.sh; source scripts/suites.sh; find_php; extension=$1; "${@:2}"' bash "$extension" "${@:2}"
}

suite "packages for PHP 8.2" make_packages
use_php 8.4
suite "packages for PHP 8.4" make_packages
extension=$target_dir/dist-build/release/libdelayqueue.so
# Of the folder, too: it is the newer one.
RUN_TESTS=$system/usr/lib/php/$("$PHP_CONFIG" --phpapi)/build/run-tests.php suite "PHP 8.4, the PHP surface" test_surface
# With PHP's settings, PHPUnit and servers of the folder: in it.
for server in "${servers[@]}"; do
  suite "PHP 8.4 with $server, the PHP package (PHPUnit)" test_there "$server" test_phpunit phpunit.xml.dist
done
suite "PHP 8.4 with redis-server, processes" test_there redis-server test_script tests/run-php.sh "$extension"
suite "packaging" test_packaging
account matrix
