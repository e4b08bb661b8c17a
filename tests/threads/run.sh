#!/usr/bin/env bash
# Runs scripts in several threads of one process: threads.c, with the embedded PHP of $PHP_CONFIG, which has to be thread-safe.
#
#     tests/threads/run.sh path/to/delayqueue.so
#
# REDIS_SERVER names another server than the one found. The last line counts.
set -euo pipefail

[ $# -eq 1 ] || { echo "usage: $0 path/to/delayqueue.so" >&2; exit 2; }
given=$(realpath "$1")
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"
extension=$given
find_php
# shellcheck source=tests/private-redis.sh
source "$root/tests/private-redis.sh"

mkdir "$work/php.d"
printf 'extension=%s\nerror_log=/dev/stderr\npcre.jit=0\n' "$extension" >"$work/php.d/delayqueue.ini"
export PHP_INI_SCAN_DIR=$work/php.d THREADS_SOCKET=$work/redis.sock
scripts=$root/tests/threads/scripts
libraries=$("$PHP_CONFIG" --prefix)/lib
# shellcheck disable=SC2046
cc -O1 -g -Wall -o "$work/threads" "$root/tests/threads/threads.c" $("$PHP_CONFIG" --includes) -L"$libraries" -lphp -Wl,-rpath,"$libraries" ||
  die "tests/threads/threads.c does not build: $PHP_CONFIG has to be of a thread-safe PHP with its embedded library"
passed=0 failed_tests=0

# check SENTENCE STATUSES SCRIPT THREADS …: the exit statuses of the threads, and an end without crash, noise or leak.
check() {
  local sentence=$1 statuses=$2 script=$3 status=0
  shift 3
  redis-cli -s "$THREADS_SOCKET" flushall >/dev/null
  # shellcheck disable=SC2086
  timeout --kill-after=5 300 ${under:-} "$work/threads" "$scripts/$script.php" "$@" >"$work/said" 2>"$work/errors" || status=$?
  if [ "$status" -eq 0 ] && [ ! -s "$work/errors" ] && [ "$(grep '^statuses:' "$work/said" | sort -u)" = "statuses: $statuses" ] &&
    awk -v most="${under:+999999}" '/^grown:/ { n++; if ($2 >= (most ? most : 2048) || $4 > 0 || $6 > 0) bad = 1 } END { exit bad || !n }' "$work/said"; then
    passed=$((passed + 1))
    echo "PASS $sentence"
  else
    failed_tests=$((failed_tests + 1))
    echo "FAIL $sentence (exit code $status, statuses expected: $statuses)"
    cat "$work/said" "$work/errors" | tail -n 60
  fi
}

check "threads share neither settings, time, connections nor exceptions" "0 0 0 0 0 0" nothing_is_shared 6 4
check "each thread keeps its own leases, at its own time" "0 0 0 0 0 0" leases_are_kept 6 2
check "a time limit ends the handler of its thread only" "0 0 0 0" time_limits_hit_their_own_thread 4 2
check "a signal ends the loops of all threads at once" "0 0 0 0 0" a_signal_ends_every_loop 5 2
check "exit and errors end the request of their thread only" "0 7 255 255 0 7 255 255" errors_stay_in_their_thread 8 3
check "threads that end leave nothing" "0 0 0 0" threads_come_and_go 4 2 50
check "threads share a store in memory by its name, and wait for each other" "0 0 0 0 0 0 0 0" memory_is_of_the_process 8 2
check "PHP may start more than once in a process" "0 0 0" time_limits_hit_their_own_thread 3 1 1 3
check "every engine that a process starts hears of an exit" "0 7 255" errors_stay_in_their_thread 3 1 1 3
# PHP's own allocator is switched off, so that valgrind sees every block. PHP compares strings in words, and with them bytes that nobody has set.
export USE_ZEND_ALLOC=0 ZEND_DONT_UNLOAD_MODULES=1
under="valgrind --quiet --undef-value-errors=no --leak-check=full --errors-for-leak-kinds=definite --show-leak-kinds=definite --error-exitcode=9"
check "valgrind finds neither wrong accesses nor leaks in threads" "0 0 0" nothing_is_shared 3 2
check "valgrind finds neither wrong accesses nor leaks in threads with stores in memory" "0 0 0" memory_is_of_the_process 3 2
check "valgrind finds neither wrong accesses nor leaks in threads that come and go" "0 0" threads_come_and_go 2 1 2

echo "threads: $passed passed, $failed_tests failed"
[ "$failed_tests" -eq 0 ]
