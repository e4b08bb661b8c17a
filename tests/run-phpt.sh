#!/bin/sh
# Runs the phpt tests against a private Redis. A skipped test is a failed one.
#
#     tests/run-phpt.sh path/to/delayqueue.so [run-tests.php options and tests …]
#
# PHP, REDIS_SERVER and RUN_TESTS name other programs than the ones found.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
[ $# -gt 0 ] || { echo "usage: $0 path/to/delayqueue.so [options and tests]" >&2; exit 2; }
extension=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
shift
[ -f "$extension" ] || { echo "no extension at $extension" >&2; exit 2; }

php=${PHP:-$(command -v php)}
run_tests=${RUN_TESTS:-$(ls "$("$php" -n -r 'echo dirname(PHP_EXTENSION_DIR), "/", basename(PHP_EXTENSION_DIR);')"/build/run-tests.php \
    /usr/local/lib/php/build/run-tests.php 2>/dev/null | head -n 1)}
[ -f "$run_tests" ] || { echo "run-tests.php not found: set RUN_TESTS" >&2; exit 2; }

# shellcheck source=tests/private-redis.sh
. "$root/tests/private-redis.sh"

# It writes a file beside itself, where not everybody may.
cp "$run_tests" "$work/run-tests.php"

export DELAYQUEUE_TEST_DSN="redis+unix://$work/redis.sock"
export DELAYQUEUE_TEST_EXTENSION="$extension"
unset DELAYQUEUE_DSN
export TEST_PHP_EXECUTABLE="$php" NO_INTERACTION=1 REPORT_EXIT_STATUS=1 TEMP="$work"

# posix and pcntl are shared extensions in some builds, and no test may depend on which. Tests give the options to processes that they start.
shared=
for needed in posix pcntl; do
    ! "$php" -n -m | grep -qx "$needed" || continue
    shared="$shared -d extension=$needed"
    "$php" -n -d extension="$needed" -m 2>/dev/null | grep -qx "$needed" ||
        { echo "$php has no $needed, which the tests need: install it (in images of the php family: docker-php-ext-install $needed)" >&2; exit 2; }
done
export DELAYQUEUE_TEST_SHARED="$shared"

[ $# -gt 0 ] || set -- -j2 "$root/tests/phpt"
status=0
# shellcheck disable=SC2086
"$php" -n "$work/run-tests.php" -q -n -d extension="$extension" $shared "$@" >"$work/output" 2>&1 || status=$?
cat "$work/output"
if ! grep -Eq '^Tests skipped *: +0 ' "$work/output"; then
    echo "FAILED: tests were skipped, or none ran" >&2
    status=1
fi
if ! grep -Eq '^Tests warned *: +0 ' "$work/output"; then
    echo "FAILED: tests passed only when tried again" >&2
    status=1
fi
if ! grep -Eq '^Tests passed *: +[1-9]' "$work/output"; then
    echo "FAILED: no test passed" >&2
    status=1
fi
exit $status
