# shellcheck shell=bash
# Suites of tests, and the account of them at the end. REDIS_SERVER names another server than redis-server. Sourced after common.sh, never run.
# Each test_… function leaves what it counted in $closing. A skipped test fails its suite.

log=$(mktemp)
trap 'rm -f "$log"' EXIT
closing=
report=() failed=()

# suite NAME COMMAND …: a suite that fails is remembered, and hides no later one.
suite() {
  local name=$1 status=passed started=$SECONDS
  closing="nothing was counted"
  say "$name"
  "${@:2}" || status=FAILED failed+=("$name")
  report+=("$(printf '%s %5d s  %s: %s' "$status" $((SECONDS - started)) "$name" "$closing")")
}

# account VERB: what every suite counted and how long it took; ends the verb if one failed.
account() {
  say "$1:"
  printf '%s\n' "${report[@]}"
  [ "${#failed[@]}" -eq 0 ] || die "tests failed in: $(printf '%s; ' "${failed[@]}")their messages are above"
  say "$1: all suites passed"
}

# The core needs no PHP: it is built and tested without. Arguments go to cargo test.
test_core() {
  local status=0
  cargo test --locked --no-default-features --no-fail-fast "$@" 2>&1 | tee "$log" || status=$?
  closing=$(awk '/^test result: / { passed += $4; failed += $6; ignored += $8 }
    END { printf "%d tests passed, %d failed, %d ignored\n", passed, failed, ignored; exit !passed || ignored }' "$log") || {
    echo "tests were ignored, or none ran: $closing"
    return 1
  }
  return "$status"
}

# One behaviour of the PHP surface per file. run-tests.php has no closing line of its own. Arguments go to it.
test_surface() {
  local status=0
  # shellcheck disable=SC2154
  tests/run-phpt.sh "$extension" "$@" 2>&1 | tee "$log" || status=$?
  closing=$(awk -F: '/^Tests (passed|failed|skipped|warned)/ { split($1, word, " "); split($2, number, " "); count[word[2]] = number[1] }
    END { printf "%d tests passed, %d failed, %d skipped, %d passed only when tried again\n",
      count["passed"], count["failed"], count["skipped"], count["warned"] }' "$log")
  echo "$closing"
  return "$status"
}

# One PHPUnit configuration and its options; anything but a pass fails. PHP_OPTIONS go to PHP.
test_phpunit() {
  local phpunit status=0
  phpunit=$(command -v "${PHPUNIT:-phpunit}") || {
    closing="no phpunit: run ./build.sh setup, or set PHPUNIT to its path"
    return 1
  }
  use_built_extension
  find_strict_options "$phpunit"
  # shellcheck disable=SC2086,SC2154
  "$PHP" ${PHP_OPTIONS:-} "$phpunit" --configuration "$@" "${strict[@]}" 2>&1 | tee "$log" || status=$?
  count_lines '^(OK \(|Tests: )' || return 1
  return "$status"
}

# Whatever tests/run-php.sh and its likes say at the end of their parts.
test_script() {
  local status=0
  "$@" 2>&1 | tee "$log" || status=$?
  count_lines '^(OK \(|Tests: |[a-z]+: [0-9]+ passed)' || return 1
  return "$status"
}

# Joins the closing lines that match; fails without one.
count_lines() {
  closing=$(grep -E "$1" "$log" | sed 's/^OK (\(.*\))$/\1 passed/; s/\.$//' | paste -sd ';' | sed 's/;/; /g') && [ -n "$closing" ] || {
    closing="no test ran"
    echo "$closing"
    return 1
  }
}
