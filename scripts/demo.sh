#!/usr/bin/env bash
# demo: everything from a bare machine to the account of the shop.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

"$root/scripts/setup.sh" demo
"$root/build.sh" build
find_php
use_built_extension
say "the shop opens (demo/run.php)"
exec "$PHP" "$root/demo/run.php"
