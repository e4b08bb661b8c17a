#!/usr/bin/env bash
# stubs: the build makes the declarations of the extension from the stub; this proves that PHP sees in the extension what the stub says.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

"$root/build.sh" build
find_php

say "comparing stubs/delayqueue.stub.php with the extension"
# shellcheck disable=SC2016
differences=$(DELAYQUEUE_TEST_EXTENSION=$extension PHP_INI_SCAN_DIR='' "$PHP" -n -r '
  require "tests/tools/surface.php";
  echo implode("\n", differences(surface("stubs/delayqueue.stub.php"), surface()));
')
[ -z "$differences" ] || {
  printf '%s\n' "$differences"
  die "the extension does not declare what the stub promises (see above): change the one that is wrong"
}
say "the stub says what the extension declares"
