#!/usr/bin/env bash
# test: every suite, each ending with its own runner's closing line. A skipped test fails its suite.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=scripts/suites.sh
source "$root/scripts/suites.sh"

"$root/build.sh" setup
"$root/build.sh" build
find_php

# One PHPUnit configuration and its options; anything but a pass fails.
test_phpunit() {
  local phpunit
  phpunit=$(command -v "${PHPUNIT:-phpunit}") || die "no phpunit: run ./build.sh setup, or set PHPUNIT to its path"
  use_built_extension
  "$PHP" "$phpunit" --configuration "$@" --fail-on-skipped --fail-on-incomplete --fail-on-risky --fail-on-warning
}

failed=()
# suite NAME COMMAND …: a suite that fails hides no later one.
suite() {
  say "$1"
  "${@:2}" || failed+=("$1")
}

suite "the core (cargo test)" test_core
suite "the PHP surface (phpt)" test_surface
suite "the PHP package (PHPUnit)" test_phpunit "$root/phpunit.xml.dist"
suite "the Laravel driver (PHPUnit)" test_phpunit "$root/php/tests/Laravel/phpunit.xml"
suite "Symfony Messenger (PHPUnit)" test_phpunit "$root/tests/symfony/phpunit.xml"
suite "the docs site: code samples, links, search, alert rules (PHPUnit)" "$root/build.sh" docs
suite "processes: crashes, signals, forks, php-fpm, leaks, valgrind" tests/run-php.sh "$extension"
suite "faults on a single server, under Sentinels and in a cluster (the quick ones)" test_phpunit "$root/tests/faults/phpunit.xml" --group quick

[ "${#failed[@]}" -eq 0 ] || die "tests failed in: $(printf '%s; ' "${failed[@]}")their messages are above"
say "test: all suites passed"
