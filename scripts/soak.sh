#!/usr/bin/env bash
# soak: a load under faults, and its account. Options as in tests/faults/soak.php.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

"$root/build.sh" setup
"$root/build.sh" build
find_php
use_built_extension
exec "$PHP" "$root/tests/faults/soak.php" "$@"
