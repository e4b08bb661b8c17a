#!/usr/bin/env bash
# faults: every fault of docs/reliability.md, with real servers and workers. Its accounts go to standard error.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

"$root/build.sh" setup
"$root/build.sh" build
find_php
phpunit=$(command -v "${PHPUNIT:-phpunit}") || die "no phpunit: run ./build.sh setup, or set PHPUNIT to its path"
use_built_extension
"$PHP" "$phpunit" --configuration "$root/tests/faults/phpunit.xml" \
  --fail-on-skipped --fail-on-incomplete --fail-on-risky --fail-on-warning ||
  die "faults: tests failed; their messages are above"
say "faults: all passed"
