# shellcheck shell=bash
# The suites that need nothing but a server; REDIS_SERVER names another than redis-server. Sourced after common.sh, never run.
# Each leaves its closing line in $closing. A skipped test fails its suite.

log=$(mktemp)
trap 'rm -f "$log"' EXIT
closing=

# The core needs no PHP: it is built and tested without. Arguments go to cargo test.
test_core() {
  local status=0
  cargo test --locked --no-default-features --no-fail-fast "$@" 2>&1 | tee "$log" || status=$?
  closing=$(grep '^test result: ' "$log" | tail -n 1 || echo "no test ran")
  if grep -qE '^test result: .* [1-9][0-9]* ignored' "$log"; then
    echo "ignored tests: mend or remove them"
    return 1
  fi
  return "$status"
}

# One behaviour of the PHP surface per file. run-tests.php has no closing line of its own.
test_surface() {
  local status=0
  # shellcheck disable=SC2154
  tests/run-phpt.sh "$extension" 2>&1 | tee "$log" || status=$?
  closing=$(awk -F: '/^Tests (passed|failed|skipped|warned)/ { split($1, word, " "); split($2, number, " "); count[word[2]] = number[1] }
    END { printf "phpt: %d passed, %d failed, %d skipped, %d passed only when tried again\n",
      count["passed"], count["failed"], count["skipped"], count["warned"] }' "$log")
  echo "$closing"
  return "$status"
}
