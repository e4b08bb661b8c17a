#!/usr/bin/env bash
# stubs: the stub is written by hand; this shows where it and the extension disagree.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

"$root/build.sh" build
find_php

# Both sides as JSON: classes, constants, properties, methods, parameters, defaults.
stub_dir=$(mktemp -d)
trap 'rm -rf "$stub_dir"' EXIT
PHP_INI_SCAN_DIR='' "$PHP" -n "$root/tests/tools/reflect.php" "$root/stubs/delayqueue.stub.php" >"$stub_dir/stub"
PHP_INI_SCAN_DIR='' "$PHP" -n -d "extension=$extension" "$root/tests/tools/reflect.php" >"$stub_dir/extension"
diff -u "$stub_dir/stub" "$stub_dir/extension" ||
  die "stubs/delayqueue.stub.php (-) and the extension (+) disagree: change the one that is wrong"
say "the stub says what the extension declares"
