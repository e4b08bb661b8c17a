#!/usr/bin/env bash
# verify: what is too long for each day and belongs to a release, or the parts that are named.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=scripts/suites.sh
source "$root/scripts/suites.sh"
# shellcheck source=scripts/debian.sh
source "$root/scripts/debian.sh"

parts=(mutants databases long memory opcache leaks valgrind faults frameworks zts matrix samples environment)

run_part() {
  case $1 in
    mutants) suite "mutants: every seeded mistake in the scripts is found" test_core --test core -- mutants ;;
    databases) run_databases ;;
    long)
      DELAYQUEUE_SEEDS=120 suite "long: walks and combinations of the core" test_core --test core -- model::walk denied wrongtype traits
      for configuration in phpunit.xml.dist tests/phpunit/phpunit.xml; do
        suite "long: $configuration" test_phpunit "$root/$configuration" --group verify
      done
      ;;
    memory) run_memory ;;
    opcache | leaks | valgrind) suite "$1" test_script "$root/tests/run-php.sh" "$extension" "$1" ;;
    samples) run_samples ;;
    faults | frameworks | zts | matrix | environment) suite "$1" test_script "$root/build.sh" "$1" ;;
    *) die "'$1' is no part of verify; there are ${parts[*]}" ;;
  esac
}

# Each test of the database side, also those of the frameworks, on each kind of database.
run_databases() {
  local configuration
  export DATABASES=${DATABASES:-postgresql mariadb sqlite}
  suite "databases: outbox, relay, inbox, journal" test_phpunit "$root/tests/database/phpunit.xml"
  for configuration in php/tests/Laravel tests/symfony; do
    suite "databases: $configuration" test_phpunit "$root/$configuration/phpunit.xml" \
      --filter '/with data set "(postgresql|mariadb|mysql|sqlite)/'
  done
  unset DATABASES
}

# memory:// beside Redis: each command, random walks of the package, and the suites of core and package on the store.
run_memory() {
  local skipped
  DELAYQUEUE_COMMANDS=100000 suite "memory: 100,000 commands of both" test_core --test core -- memory::differential
  DELAYQUEUE_STEPS=100000 suite "memory: 100,000 steps of both" test_phpunit "$root/phpunit.xml.dist" --group verify --filter Walk
  DELAYQUEUE_DSN=memory:// suite "memory: the package" test_phpunit "$root/phpunit.xml.dist" --exclude-group redis
  cargo build --locked --no-default-features --example serve_memory
  mapfile -t skipped < <(sed -n 's/^\([a-z_0-9:]*::[a-z_0-9]*\) .*/--skip\n\1/p' tests/core/memory/not_served.txt)
  REDIS_SERVER=$target_dir/debug/examples/serve_memory suite "memory: the core, over a socket" test_core --test core -- --skip mutants "${skipped[@]}"
}

# The samples of the documents on the servers that users may have beside this Debian's.
run_samples() {
  local server
  make_system trixie redis-server valkey-server
  for server in redis-server valkey-server; do
    REDIS_SERVER=$(make_program "$server") suite "samples: $server of Debian 13" test_script "$root/scripts/docs.sh"
  done
}

"$root/build.sh" setup
"$root/build.sh" build
find_php
use_built_extension

[ $# -gt 0 ] || set -- "${parts[@]}"
for part in "$@"; do run_part "$part"; done
account verify
