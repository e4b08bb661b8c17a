#!/usr/bin/env bash
# matrix: the core and the PHP surface on the servers of a newer Debian, Redis 8.0 and Valkey 8.1; the PHP surface on its PHP 8.4;
# and what ./build.sh dist makes for both PHPs, installed in a Debian of each. scripts/debian.sh makes these Debians.
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
make_system trixie redis-server valkey-server php8.4-cli php8.4-dev
for server in "${servers[@]}"; do
  REDIS_SERVER=$(make_program "$server")
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

suite "packages for PHP 8.2" make_packages
use_php 8.4
suite "packages for PHP 8.4" make_packages
extension=$target_dir/dist-build/release/libdelayqueue.so
# Of the folder, too: it is the newer one.
RUN_TESTS=$system/usr/lib/php/$("$PHP_CONFIG" --phpapi)/build/run-tests.php suite "PHP 8.4, the PHP surface" test_surface
suite "packaging" test_packaging
account matrix
