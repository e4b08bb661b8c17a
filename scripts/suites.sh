# shellcheck shell=bash
# Suites of tests, and the account of them at the end. REDIS_SERVER names another server than redis-server. Sourced after common.sh, never run.
# Each test_… function leaves what it counted in $closing, and writes into $log. A skipped test fails its suite.

# So many suites run at once.
lanes=1
suite_files=$(mktemp -d)
names=() closing=
declare -A running=() # the process of a suite by its number
mkfifo "$suite_files/ended"
exec {ended}<>"$suite_files/ended"
trap 'rm -rf "$suite_files"' EXIT

# suite NAME COMMAND …: a suite that fails is remembered, and hides no later one. Beside others it runs in a process group of its own, which can be
# ended as a whole, and its output is printed in one piece when it has ended.
suite() {
  local number=${#names[@]}
  names+=("$1")
  if [ "$lanes" -eq 1 ]; then
    say "$1"
    run_suite "$number" "${@:2}"
    return 0
  fi
  while [ "${#running[@]}" -ge "$lanes" ]; do await_suite; done
  say "$1: started"
  trap 'stop_suites; exit 130' INT TERM HUP
  set -m
  run_beside "$number" "${@:2}" >"$suite_files/$number.output" 2>&1 </dev/null &
  set +m
  running[$number]=$!
}

run_beside() {
  set +m
  # shellcheck disable=SC2064
  trap "echo $1 >&$ended" EXIT
  run_suite "$@"
}

run_suite() {
  local number=$1 status=passed started=$SECONDS
  log=$suite_files/$number.log closing="nothing was counted"
  times >"$suite_files/$number.times"
  "${@:2}" || status=FAILED
  times >>"$suite_files/$number.times"
  printf '%s %5d s, %4d s of processor  %s: %s\n' "$status" $((SECONDS - started)) "$(processor_time "$number")" \
    "${names[$number]}" "$closing" >"$suite_files/$number.report"
  [ "$status" = passed ] || failed_tests >>"$suite_files/$number.report"
}

# processor_time NUMBER: prints the seconds of processor of a suite: those of the children of its shell that have ended.
processor_time() {
  awk 'NR % 2 == 0 { gsub(/[ms]/, " "); sum = $1 * 60 + $2 + $3 * 60 + $4 - sum } END { print int(sum) }' "$suite_files/$1.times"
}

# Prints the tests that $log calls failed, as PHPUnit, cargo, run-tests.php, TAP, the leak loop and a verb call them: their messages stand far above
# the end of a long log.
failed_tests() {
  [ -f "$log" ] || return 0
  tr '\r' '\n' <"$log" | sed 's/\x1b\[[0-9;]*m//g; s/ *$//' | sed -nE '
    s/^[0-9]+\) (.+::.+|\/.+)$/\1/p
    s/^test (.+) \.\.\. FAILED$/\1/p
    s/^((FAIL|WARN|SKIP) .+ \[.+\])$/\1/p
    s/^not ok [0-9]+ - (.+)$/\1/p
    s/^(.+ GROWS)$/\1/p
    s/^build\.sh: (failed: .+)$/\1/p' |
    awk '!seen[$0]++ && ++count <= 20 { print "         " substr($0, 1, 200) } END { if (count > 20) print "         and " count - 20 " more" }'
}

# Waits for one of the suites that are running. Not by "wait -n": bash may have forgotten a process that has ended already.
await_suite() {
  local number
  read -r number <&"$ended"
  unset "running[$number]"
  say "${names[$number]}: ended"
  cat "$suite_files/$number.output"
  report "$number"
}

# report NUMBER: what the suite counted and how long it took.
report() {
  cat "$suite_files/$1.report" 2>/dev/null || printf 'FAILED         %s: it ended before it had counted\n' "${names[$1]}"
}

stop_suites() {
  local process
  for process in "${running[@]}"; do kill -TERM -- "-$process" 2>/dev/null || true; done
  wait
}

# account VERB: what every suite counted and how long it took; ends the verb if one failed.
account() {
  local number failed=()
  while [ "${#running[@]}" -gt 0 ]; do await_suite; done
  say "$1:"
  for number in "${!names[@]}"; do
    report "$number"
    grep -q '^passed' "$suite_files/$number.report" 2>/dev/null || failed+=("${names[$number]}")
  done
  [ "${#failed[@]}" -eq 0 ] || die "tests failed in: $(printf '%s; ' "${failed[@]}")their messages are above"
  say "$1: all suites passed"
}

# The core needs no PHP: it is built and tested without. Arguments go to cargo test. Most of its tests wait most of the time: more of them run at once
# than there are processors.
test_core() {
  local status=0
  RUST_TEST_THREADS=${RUST_TEST_THREADS:-$((2 * $(nproc)))} cargo test --locked --no-default-features --no-fail-fast "$@" 2>&1 | tee "$log" || status=$?
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
