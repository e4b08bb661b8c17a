#!/usr/bin/env bash
# Runs the tests of the dashboard in a real Chromium, against a private Redis. A skipped test is a failed one.
#
#     tests/browser/run.sh path/to/delayqueue.so [--screenshots FOLDER]
#
# CHROMIUM and REDIS_SERVER name other programs than the ones found.
set -euo pipefail

[ $# -gt 0 ] || { echo "usage: $0 path/to/delayqueue.so [--screenshots FOLDER]" >&2; exit 2; }
given=$(realpath "$1")
folder=${3:+$(realpath "$3")}
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"
extension=$given
find_php
use_built_extension
CHROMIUM=${CHROMIUM:-$(command -v chromium)} || die "no chromium: run ./build.sh setup, or set CHROMIUM to its path"
export CHROMIUM
cd "$root/tests/browser"
if ! cmp -s package-lock.json node_modules/.of; then
  npm ci --no-fund --no-audit --silent
  cp package-lock.json node_modules/.of
fi

# shellcheck source=tests/private-redis.sh
. "$root/tests/private-redis.sh"
export DELAYQUEUE_DSN="redis+unix://$work/redis.sock" JOURNAL="sqlite:$work/journal.sqlite"
if [ -n "$folder" ]; then
  # Each page says where Redis is: not in a folder with a random name.
  ln -sfn "$work" /tmp/shop
  DELAYQUEUE_DSN="redis+unix:///tmp/shop/redis.sock" node screenshots.mjs "$folder"
  rm /tmp/shop
  exit
fi
status=0
node --test --test-reporter=tap --test-concurrency=1 dashboard.test.mjs | tee "$work/tap" || status=$?
awk '/^# (pass|fail|cancelled|skipped|todo) / { count[$2] = $3 }
  END {
    wrong = count["fail"] + count["cancelled"] + count["skipped"] + count["todo"]
    printf "browser: %d passed, %d failed\n", count["pass"], wrong
    exit wrong > 0 || count["pass"] == 0
  }' "$work/tap" || status=1
exit "$status"
