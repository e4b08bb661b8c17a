#!/usr/bin/env bash
# test: every suite, or those that are named, and at the end what each has counted and how long it took. A skipped test fails its suite.
#
# A NAME is a suite, a file of tests in any language, or one test of a file: FILE::TEST. A whole suite leaves out its tests of the group "verify", which
# ./build.sh verify runs; a file that is named leaves out nothing.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=scripts/suites.sh
source "$root/scripts/suites.sh"

# The long ones begin first.
suites=(core console processes database laravel faults docs browser package symfony surface)

run_suite_named() {
  case $1 in
    core) suite "core" test_core -- --skip mutants ;;
    surface) suite "surface: phpt" test_surface ;;
    package) suite "package" test_phpunit "$root/phpunit.xml.dist" --exclude-group verify ;;
    console) suite "console: the command line" test_phpunit "$root/tests/console/phpunit.xml" --exclude-group verify ;;
    processes) suite "processes: crashes, signals, forks, php-fpm" test_phpunit "$root/tests/phpunit/phpunit.xml" --exclude-group verify ;;
    laravel) suite "laravel" test_phpunit "$root/php/tests/Laravel/phpunit.xml" --exclude-group verify ;;
    symfony) suite "symfony" test_phpunit "$root/tests/symfony/phpunit.xml" --exclude-group verify ;;
    database) suite "database: outbox, relay, inbox, journal" test_phpunit "$root/tests/database/phpunit.xml" --exclude-group verify ;;
    faults) suite "faults: the quick ones" test_phpunit "$root/tests/faults/phpunit.xml" --group quick ;;
    docs) suite "docs: the site, its samples and links" test_script "$root/scripts/docs.sh" ;;
    browser) suite "browser: the dashboard in Chromium" test_script "$root/tests/browser/run.sh" "$extension" ;;
    *) return 1 ;;
  esac
}

# run_file FILE[::TEST]: by what the file is.
run_file() {
  local file=${1%%::*} test='' folder
  [ "$file" = "$1" ] || test=${1#*::}
  [ -f "$file" ] || die "'$file' is neither a suite (${suites[*]}) nor a file; $0 takes one of them, or FILE::TEST"
  file=$(realpath --relative-to "$root" "$file")
  case $file in
    *.phpt) suite "$1" test_surface "$root/$file" ;;
    tests/core/*.rs) suite "$1" test_core --test core -- "$(module "${file#tests/core/}")$test" ;;
    src/*.rs) suite "$1" test_core --lib -- "$(module "${file#src/}")$test" ;;
    tests/browser/*) run_suite_named browser ;;
    *Test.php)
      folder=$(dirname "$file")
      until [ -f "$folder/phpunit.xml" ] || [ "$folder" = . ]; do folder=$(dirname "$folder"); done
      [ -f "$folder/phpunit.xml" ] && folder=$folder/phpunit.xml || folder=phpunit.xml.dist
      suite "$1" test_phpunit "$root/$folder" ${test:+--filter "/::$test( |\$)/"} "$root/$file"
      ;;
    *) die "'$file' is no file of tests" ;;
  esac
}

# module PATH: the module of a Rust file, as the beginning of the names of its tests.
module() {
  local path=${1%.rs}
  path=${path%/mod}
  printf '%s::' "${path//\//::}"
}

"$root/build.sh" setup
"$root/build.sh" build
find_php
# Beside each other the suites find it made.
use_built_extension

if [ $# -eq 0 ]; then
  cargo test --locked --no-default-features --no-run --quiet
  # Most suites mostly wait: for leases that end, for servers that are silent, for timeouts. Each has its own servers, sockets and folders.
  # shellcheck disable=SC2034
  lanes=4
  for name in "${suites[@]}"; do run_suite_named "$name"; done
fi
for name in "$@"; do run_suite_named "$name" || run_file "$name"; done
account test
