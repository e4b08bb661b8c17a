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

# One PHPUnit configuration; anything but a pass fails.
test_phpunit() {
  local phpunit
  phpunit=$(command -v "${PHPUNIT:-phpunit}") || die "no phpunit: run ./build.sh setup, or set PHPUNIT to its path"
  use_built_extension
  "$PHP" "$phpunit" --configuration "$1" --fail-on-skipped --fail-on-incomplete --fail-on-risky --fail-on-warning
}

failed=()
say "1/4 the core (cargo test)"
test_core || failed+=("the core")
say "2/4 the PHP surface (phpt)"
test_surface || failed+=("the PHP surface")
say "3/4 the PHP package (PHPUnit)"
test_phpunit "$root/phpunit.xml.dist" || failed+=("the PHP package")
say "the Laravel driver (PHPUnit)"
test_phpunit "$root/php/tests/Laravel/phpunit.xml" || failed+=("the Laravel driver")
say "4/4 processes: crashes, signals, forks, php-fpm, leaks, valgrind"
tests/run-php.sh "$extension" || failed+=("processes")

[ "${#failed[@]}" -eq 0 ] || die "tests failed in: $(printf '%s; ' "${failed[@]}")their messages are above"
say "test: all suites passed"
