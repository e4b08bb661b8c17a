#!/usr/bin/env bash
# test: every suite, each ending with its own runner's closing line. A skipped test fails the suite.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

"$root/build.sh" setup
"$root/build.sh" build

log=$(mktemp)
trap 'rm -f "$log"' EXIT

say "1/3 the core (cargo test, no PHP)"
cargo test --locked --no-default-features 2>&1 | tee "$log"
if grep -qE '^test result: .* [1-9][0-9]* ignored' "$log"; then die "the core has ignored tests: mend or remove them"; fi

say "2/3 the PHP surface (phpt)"
tests/phpt/run.sh

say "3/3 the PHP package (PHPUnit)"
phpunit=$(command -v "${PHPUNIT:-phpunit}") || die "no phpunit: run ./build.sh setup, or set PHPUNIT to its path"
find_php
use_built_extension
"$PHP" "$phpunit" --configuration "$root/phpunit.xml.dist" --fail-on-skipped --fail-on-incomplete --fail-on-risky --fail-on-warning

say "test: all suites passed"
